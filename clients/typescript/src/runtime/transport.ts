// Sends calls with fetch, and repeats them as exchange.ts decides.

import { NotModified, UnexpectedAnswer, errorOf } from "./errors.js";
import { type Call, Exchange, type Settings, retryAfter } from "./exchange.js";
import { type Page, nextCall } from "./paging.js";

const headersByAnswer = new WeakMap<object, Headers>();

/** The headers of the response from which an answer came: `headersOf(link).get("ETag")`. */
export function headersOf(answer: object): Headers {
  const headers = headersByAnswer.get(answer);
  if (headers === undefined) throw new TypeError("This is not the whole answer of a call.");
  return headers;
}

export class Transport {
  constructor(
    readonly settings: Settings,
    private readonly fetch: typeof globalThis.fetch = globalThis.fetch.bind(globalThis),
  ) {}

  /** The decoded answer. */
  protected json<Answer extends object>(call: Call): Promise<Answer> {
    return this.#send(call, async (response) => {
      const text = await response.text();
      let answer: Answer;
      try {
        answer = JSON.parse(text) as Answer;
      } catch {
        throw new UnexpectedAnswer(`${response.url} answered ${response.status} without JSON.`);
      }
      headersByAnswer.set(answer, response.headers);
      return answer;
    });
  }

  /** A successful response, whose body is the file. */
  protected file(call: Call): Promise<Response> {
    return this.#send(call, async (response) => response);
  }

  /** Each object of a list, page after page. */
  protected async *rows<Row>(call: Call, name: string): AsyncGenerator<Row> {
    for (let following: Call | null = call; following !== null; ) {
      const page: Page = await this.json<Page>(following);
      yield* page.data[name] as Row[];
      following = nextCall(following, page, headersOf(page));
    }
  }

  async #send<Result>(call: Call, read: (response: Response) => Promise<Result>): Promise<Result> {
    const exchange = new Exchange(call, this.settings);
    const ended = call.options?.signal;
    for (;;) {
      let wait: number;
      try {
        const late = AbortSignal.timeout(this.settings.timeout * 1000);
        const signal = ended ? AbortSignal.any([ended, late]) : late;
        const response = await this.fetch(exchange.url, { ...exchange.request, signal });
        if (response.ok) return await read(response);
        if (response.status === 304) throw new NotModified("Not modified.");
        wait = exchange.afterError(await errorOf(response, retryAfter(response.headers.get("Retry-After"))));
      } catch (failure) {
        // fetch reports a connection that failed as a TypeError, and the time limit as a TimeoutError.
        const isConnection = failure instanceof TypeError || (failure as Error).name === "TimeoutError";
        if (ended?.aborted || !isConnection) throw failure;
        wait = exchange.afterFailure(failure);
      }
      await pause(wait, ended);
    }
  }
}

function pause(seconds: number, ended: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(ended?.reason);
    };
    const timer = setTimeout(() => {
      ended?.removeEventListener("abort", stop);
      resolve();
    }, seconds * 1000);
    if (ended?.aborted) stop();
    else ended?.addEventListener("abort", stop, { once: true });
  });
}
