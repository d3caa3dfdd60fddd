"""Teams as a service: an OpenAI-compatible endpoint, an MCP server and A2A agents over HTTP.

`server.TeamServer` answers a request by a run, whatever protocol it came by: `app` has the routes,
`mcp_server` and `a2a_server` the protocols whose libraries are extras. Each request has a record
under the folder of runs, and the account of requests stands beside them (`account`).
"""
