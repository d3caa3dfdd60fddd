"""A stand-in for a Qdrant server: the requests that the store makes, answered from dictionaries."""

import threading
from collections.abc import Sequence
from typing import Any

from .loopback import Answer, Loopback, Request

Collection = dict[str, tuple[Sequence[float], dict[str, Any]]]
"""Vector and payload by the point's id."""


class QdrantServer(Loopback):
    """Serves on 127.0.0.1 while in `with`.

    Args:
        key: The API key that requests must carry, if any.
    """

    def __init__(self, key: str | None = None) -> None:
        super().__init__(self._respond)
        self.key = key
        self.collections: dict[str, Collection] = {}
        self.sizes: dict[str, int] = {}
        self.title, self.version = "qdrant - vector search engine", "1.15.0"
        self.status = 200
        """What every request is answered with, when it is not 200."""
        self.page: bytes | None = None
        """What every request is answered with, when it is no Qdrant at all."""
        self.awake = threading.Event()
        """Requests wait for it; unset, the server hangs."""
        self.awake.set()

    def _respond(self, request: Request) -> Answer:
        self.awake.wait()
        if self.page is not None:
            return Answer(body=self.page)
        if self.key not in {None, request.headers.get("api-key")}:
            return Answer(status=401, body={"status": "error"})
        if self.status != 200:
            return Answer(status=self.status, body={"status": "error"})
        if request.path == "/":
            return Answer(body={"title": self.title, "version": self.version})
        status, result = self._result(request)
        headers = {"Content-Type": "application/json"}
        return Answer(status=status, body={"result": result, "status": "ok"}, headers=headers)

    def _result(self, request: Request) -> tuple[int, Any]:
        _, collections, name, *rest = request.path.partition("?")[0].split("/")
        assert collections == "collections"
        points = self.collections.get(name)
        if rest == ["exists"]:
            return 200, {"exists": points is not None}
        if (request.method, rest) == ("PUT", []):
            assert request.body["vectors"]["distance"] == "Cosine"
            self.collections.setdefault(name, {})
            self.sizes.setdefault(name, request.body["vectors"]["size"])
            return (200, True) if points is None else (409, None)
        if points is None:
            return 404, None
        if (request.method, rest) == ("DELETE", []):
            del self.collections[name], self.sizes[name]
            return 200, True
        if (request.method, rest) == ("GET", []):
            return 200, _described(self.sizes[name])
        return 200, ACTIONS[request.method, "/".join(rest)](points, request.body)


def _described(size: int) -> Any:
    """Return what a collection is, as a server does, with as little as the client takes."""
    hnsw = {"m": 16, "ef_construct": 100, "full_scan_threshold": 10000}
    optimizer = {
        "deleted_threshold": 0.2,
        "vacuum_min_vector_number": 1000,
        "default_segment_number": 0,
        "flush_interval_sec": 5,
    }
    return {
        "status": "green",
        "optimizer_status": "ok",
        "segments_count": 1,
        "config": {
            "params": {"vectors": {"size": size, "distance": "Cosine"}},
            "hnsw_config": hnsw,
            "optimizer_config": optimizer,
        },
        "payload_schema": {},
    }


def _upsert(points: Collection, body: Any) -> Any:
    batch = body["batch"]
    stored = zip(batch["vectors"], batch["payloads"], strict=True)
    points.update(zip(batch["ids"], stored, strict=True))
    return {"operation_id": 0, "status": "completed"}


def _retrieve(points: Collection, body: Any) -> Any:
    return [{"id": item} for item in body["ids"] if item in points]


def _count(points: Collection, _body: Any) -> Any:
    return {"count": len(points)}


def _query(points: Collection, body: Any) -> Any:
    assert body["params"] == {"exact": True}
    asked = body["query"]["nearest"]
    conditions = (body.get("filter") or {}).get("must") or []
    scores = {
        name: sum(a * b for a, b in zip(vector, asked, strict=True))
        for name, (vector, payload) in points.items()
        if all(_holds(each, payload) for each in conditions)
    }
    closest = sorted(scores, key=lambda text: -scores[text])[: body["limit"]]
    return {"points": [{"id": name, "version": 0, "score": scores[name]} for name in closest]}


def _holds(condition: Any, payload: dict[str, Any]) -> bool:
    if "should" in condition:
        return any(_holds(each, payload) for each in condition["should"])
    if "is_empty" in condition:
        return payload[condition["is_empty"]["key"]] in (None, [])
    there, match = payload[condition["key"]], condition["match"]
    wanted = match.get("any", [match.get("value")])
    return not set(there if isinstance(there, list) else [there]).isdisjoint(wanted)


ACTIONS = {
    ("PUT", "points"): _upsert,
    ("POST", "points"): _retrieve,
    ("POST", "points/query"): _query,
    ("POST", "points/count"): _count,
}
