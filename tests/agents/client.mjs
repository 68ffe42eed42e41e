// Uses the tools with the official client for Node.js, and prints what it got.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { url, headers } = JSON.parse(process.argv[2]);
const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
const client = new Client({ name: "test", version: "1.0.0" });
await client.connect(transport);

const call = (name, args) => client.callTool({ name, arguments: args });
const { tools } = await client.listTools();
const created = await call("create_link", { originalUrl: "https://example.com/" });
const id = created.structuredContent.url._id;
const code = await call("make_qr", { id });
const refused = await call("update_link", { id, customCode: "?" });
const unknown = await call("delete_all", {}).catch((error) => error);
console.log(
  JSON.stringify({
    revision: transport.protocolVersion,
    server: client.getServerVersion().name,
    tools: tools.map((tool) => tool.name),
    created: created.content[0].text.startsWith("Created http"),
    image: code.content[1].type,
    refused: [refused.isError, refused.structuredContent.code],
    unknown: unknown.code,
  }),
);
await client.close();
