// From one page of a list to the next.

import type { Call } from "./exchange.js";

export type Page = {
  data: Record<string, unknown> & {
    pagination?: { page?: number; pages?: number; nextCursor?: string | null };
    nextCursor?: string | null;
  };
};

/**
 * The call for the page after this one, or null after the last. A `Link` header with rel="next" decides (RFC 8288), else
 * a `nextCursor`, else the numbers of the pages. Only the query of the link is used: a credential never goes to another
 * host or path.
 */
export function nextCall(call: Call, page: Page, headers: Headers): Call | null {
  const target = nextLink(headers.get("Link") ?? "");
  if (target !== null) {
    const query = Object.fromEntries(new URL(target, "http://localhost").searchParams);
    return { ...call, query };
  }
  const { pagination = {}, nextCursor } = page.data;
  if ("nextCursor" in pagination || "nextCursor" in page.data) {
    const cursor = pagination.nextCursor ?? nextCursor;
    return cursor ? { ...call, query: { ...call.query, cursor } } : null;
  }
  const { page: number = 0, pages = 0 } = pagination;
  if (call.query?.["cursor"] !== undefined || number >= pages) return null;
  return { ...call, query: { ...call.query, page: number + 1 } };
}

function nextLink(header: string): string | null {
  // A link-value: <target>; parameters. Quoted parameters may contain commas.
  const values = header.matchAll(/<([^>]*)>((?:\s*;\s*[^\s=;,]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s";,]+))?)*)/g);
  for (const [, target = "", parameters = ""] of values) {
    const relation = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s";,]+))/i.exec(parameters);
    if ((relation?.[1] ?? relation?.[2] ?? "").toLowerCase().split(/\s+/).includes("next")) return target;
  }
  return null;
}
