// The shortest call of each endpoint that creates something. Compiled against the generated types, never run.
import createClient from "openapi-fetch";

import type { components, paths } from "./api.js";

export type NewLink = paths["/api/urls"]["post"]["requestBody"]["content"]["application/json"];

const body: NewLink = { originalUrl: "https://example.com/" };
export const response = fetch("/api/urls", { method: "POST", body: JSON.stringify(body) });

const api = createClient<paths>({ baseUrl: "" });
export const link = api.POST("/api/urls", { body });
export const links = api.POST("/api/urls/bulk", { body: { urls: [body] } });
export const imported = api.POST("/api/urls/import", { body: { content: "originalUrl\nhttps://example.com/\n" } });
export const qrCode = api.POST("/api/qr-codes", { body: { urlId: "019a9e3c-5d2f-7c41-9b1e-2f6d0c8a4b75" } });
export const domain = api.POST("/api/domains", { body: { domain: "example.com" } });

export const permanent: components["schemas"]["RedirectType"] = 301;
export const redirecting: NewLink = { ...body, redirectType: permanent };
