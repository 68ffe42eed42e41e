// Walks every operation with the TypeScript client, as testing/clients/walk.py says, and prints what came.
import { ApiError, Client, ShortenerError } from "shortener-client";

declare const process: { argv: string[] };

type Step = {
  url: string;
  call: string;
  kind: "json" | "file" | "rows";
  arguments: string[];
  query: Record<string, unknown> | null;
  body: Record<string, unknown> | null;
  options: Record<string, string>;
  save: Record<string, string>;
};

const [steps, known] = JSON.parse(process.argv[2]!) as [Step[], Record<string, string>];

function filled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(filled);
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item)]));
  }
  return typeof value === "string" && value.startsWith("$") ? known[value.slice(1)] : value;
}

async function answerOf(step: Step): Promise<object> {
  const token = known["token"];
  const client = new Client({ baseUrl: step.url, apiKey: known["apiKey"] ?? "", ...(token === undefined ? {} : { token }) });
  const given = [...step.arguments, ...(step.query ? [step.query] : []), ...(step.body ? [step.body] : []), step.options];
  const methods = client as unknown as Record<string, (...given: unknown[]) => unknown>;
  try {
    const result = methods[step.call]!(...given.map(filled));
    if (step.kind === "rows") {
      const rows = [];
      for await (const row of result as AsyncIterable<unknown>) rows.push(row);
      return { rows };
    }
    if (step.kind === "file") return { bytes: (await (await (result as Promise<Response>)).arrayBuffer()).byteLength };
    const answer = await result;
    for (const [name, path] of Object.entries(step.save)) {
      known[name] = path.split(".").reduce((value, key) => (value as Record<string, unknown>)[key], answer) as string;
    }
    return { answer };
  } catch (error) {
    if (!(error instanceof ShortenerError)) throw error;
    if (!(error instanceof ApiError)) return { failed: error.constructor.name };
    return { error: [error.status, error.code], type: error.constructor.name, request: error.requestId };
  }
}

for (const step of steps) console.log(JSON.stringify({ call: step.call, ...(await answerOf(step)) }));
