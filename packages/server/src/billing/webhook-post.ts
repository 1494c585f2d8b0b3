import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { request as requestHttp } from "node:http";
import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP } from "node:net";
import { isPublicAddress } from "./public-address.ts";

/** More of an answer is not read. */
const ANSWER_BYTES_MAX = 16 * 1024;

/** A request to a webhook: `url` as its developer gave it. */
export type WebhookPost = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
  /** Whether addresses of this machine and of private networks are allowed, and plain `http`. */
  readonly allowsPrivate: boolean;
  /** Ends the request early. */
  readonly signal: AbortSignal;
};

/** What came back: a status, or why there is none. */
export type PostOutcome = { readonly status: number } | { readonly error: string };

/** Why `text` can't be a webhook's address, or null. Its host is looked up only when it is used. */
export function webhookUrlFault(text: string, allowsPrivate: boolean): string | null {
  if (text.length > 2_000) return "must be at most 2,000 characters";
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) return "must be a URL such as https://example.com/relay";
  if (url.protocol !== "https:" && !(allowsPrivate && url.protocol === "http:")) {
    return allowsPrivate ? "must begin with https:// or http://" : "must begin with https://";
  }
  if (url.username !== "" || url.password !== "") return "must not hold a user or a password";
  if (url.hash !== "") return "must not have a fragment";
  const host = hostOf(url);
  if (isIP(host) !== 0 && !allowsPrivate && !isPublicAddress(host)) {
    return "must not be an address of this machine or of a private network";
  }
  return null;
}

/**
 * Sends one event. The host is resolved once and the connection goes to the very address that was
 * judged, so that a name which changes in between leads nowhere else. Redirects are not followed, and
 * only so much of the answer is read. Never rejects.
 */
export async function postWebhook(post: WebhookPost): Promise<PostOutcome> {
  const fault = webhookUrlFault(post.url, post.allowsPrivate);
  if (fault !== null) return { error: `the address ${fault}` };
  const signal = AbortSignal.any([post.signal, AbortSignal.timeout(post.timeoutMs)]);
  const url = new URL(post.url);
  try {
    const address = await within(signal, resolve(hostOf(url)));
    if (address === null) return { error: "the host has no address" };
    if (!post.allowsPrivate && !isPublicAddress(address.address)) {
      return { error: "the host is an address of this machine or of a private network" };
    }
    return await send(url, post, address, signal);
  } catch (error) {
    return { error: signal.aborted ? "no answer in time" : reasonOf(error) };
  }
}

/** The host without the brackets of an IPv6 address. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1");
}

/** Of several addresses one that is not public decides, since a connection could go to any. */
async function resolve(host: string): Promise<LookupAddress | null> {
  const family = isIP(host);
  if (family !== 0) return { address: host, family };
  const all = await lookup(host, { all: true });
  return all.find(({ address }) => !isPublicAddress(address)) ?? all[0] ?? null;
}

function send(
  url: URL,
  { headers, body }: WebhookPost,
  address: LookupAddress,
  signal: AbortSignal,
): Promise<PostOutcome> {
  const options: RequestOptions = {
    method: "POST",
    headers: {
      ...headers,
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
      "User-Agent": "Relay-Webhooks/1",
    },
    // No connection is kept: the next one is judged again.
    agent: false,
    signal,
    lookup: (_host, wanted, found) => {
      if (wanted.all === true) found(null, [address]);
      else found(null, address.address, address.family);
    },
  };
  return new Promise((done, failed) => {
    const onAnswer = (answer: IncomingMessage): void => {
      // Known by now; what follows is read only so that the receiver may end in peace.
      done({ status: answer.statusCode ?? 0 });
      readSome(answer, sent);
    };
    const sent: ClientRequest =
      url.protocol === "https:"
        ? requestHttps(url, options, onAnswer)
        : requestHttp(url, options, onAnswer);
    sent.on("error", failed);
    sent.end(body);
  });
}

function readSome(answer: IncomingMessage, sent: ClientRequest): void {
  let read = 0;
  answer.on("error", () => undefined);
  answer.on("data", (chunk: Buffer) => {
    read += chunk.length;
    if (read > ANSWER_BYTES_MAX) sent.destroy();
  });
}

/** A look-up can't be stopped, only left behind. */
function within<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
  const ended = new Promise<never>((_done, failed) => {
    const end = (): void => failed(new Error("no answer in time"));
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
  return Promise.race([work, ended]);
}

/** What went wrong, as its developer may read it: a code, or a few words. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && "code" in error && typeof error.code === "string") {
    return WORDS[error.code] ?? error.code;
  }
  return "the connection failed";
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was cut",
  ENOTFOUND: "the host is not known",
  EAI_AGAIN: "the host could not be looked up",
  ETIMEDOUT: "no answer in time",
  CERT_HAS_EXPIRED: "the certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the certificate is not trusted",
  SELF_SIGNED_CERT_IN_CHAIN: "the certificate is not trusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the certificate is not trusted",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is for another host",
};
