// Creates, follows and reports a link, through the types that were generated from the description.
import createClient from "openapi-fetch";

import type { paths } from "./api.js";

declare const process: { argv: string[] };

const [baseUrl, apiKey, email, password, agent] = process.argv.slice(2) as [string, string, string, string, string];

const api = createClient<paths, "application/json">({ baseUrl, headers: { "X-API-Key": apiKey } });
const created = await api.POST("/api/urls", {
  body: {
    originalUrl: "https://example.com/typescript",
    tags: ["client"],
    restrictions: { maxClicks: 5, allowedDevices: ["desktop"] },
  },
});
if (created.error) throw new Error(created.error.message);
const { url, domain } = created.data.data;

const visit = await fetch(url.shortUrl, { redirect: "manual", headers: { "User-Agent": agent } });

// The other credential reads the report.
const anonymous = createClient<paths, "application/json">({ baseUrl });
const login = await anonymous.POST("/api/auth/login", { body: { email, password } });
if (login.error) throw new Error(login.error.message);
const headers = { Authorization: `Bearer ${login.data.token}` };

let clicks = 0;
for (const deadline = Date.now() + 240_000; clicks === 0 && Date.now() < deadline; ) {
  const report = await anonymous.GET("/api/analytics/{urlId}", {
    params: { path: { urlId: url._id }, query: { limit: 5 } },
    headers,
  });
  // A 414 response has no JSON body.
  if (!report.data) throw new Error(report.error?.message ?? "refused");
  clicks = report.data.data.totalClicks;
  await new Promise((done) => setTimeout(done, 50));
}

const refused = await api.POST("/api/urls", { body: { originalUrl: "no address" } });
console.log(
  JSON.stringify({
    domain: domain.id,
    status: visit.status,
    location: visit.headers.get("Location"),
    clicks,
    refusal: refused.error?.errors?.map(({ field, code }) => [field, code]),
  }),
);
