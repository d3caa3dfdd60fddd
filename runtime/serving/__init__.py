"""Teams as a service: an OpenAI-compatible endpoint, an MCP server and A2A agents over HTTP.

`server.TeamServer` answers each request with a run, whatever its protocol: `app` has the routes,
`mcp_server` and `a2a_server` the protocols whose libraries are extras. Each request has a record
in the folder of runs, beside the account of requests (`account`).
"""
