import { APP_FRAME_SCHEMAS, CLOSE_CODES, RELAY_FRAME_SCHEMAS } from "@relay/protocol";
import type { FrameSchema, Limits } from "@relay/protocol";
import type { PublicUrls } from "../public-urls.ts";

const SOCKET_VERSION = "1";

/** Describes the app's socket as AsyncAPI 3.0, from the protocol's own tables. */
export function asyncApiDocument(urls: PublicUrls, limits: Limits) {
  const { host, protocol, pathname } = new URL(urls.public);
  const messages = { ...messagesOf(APP_FRAME_SCHEMAS), ...messagesOf(RELAY_FRAME_SCHEMAS) };
  return {
    asyncapi: "3.0.0",
    info: {
      title: "Relay: the app's socket",
      version: SOCKET_VERSION,
      description: [
        `One WebSocket a link. The first frame is \`hello\`, within ${limits.helloTimeoutSeconds} seconds; a frame has at most ${limits.frameBytes} bytes.`,
        "Close codes:",
        ...Object.entries(CLOSE_CODES).map(([code, { meaning }]) => `- ${code}: ${meaning}`),
      ].join("\n"),
    },
    servers: {
      relay: {
        host,
        protocol: protocol === "https:" ? "wss" : "ws",
        pathname: pathname === "/" ? "" : pathname,
      },
    },
    channels: {
      socket: {
        address: "/v1/socket",
        messages: Object.fromEntries(
          Object.keys(messages).map((name) => [name, { $ref: `#/components/messages/${name}` }]),
        ),
      },
    },
    operations: {
      // From the server's point of view, as AsyncAPI has it.
      receiveFromApp: operation("receive", APP_FRAME_SCHEMAS),
      sendToApp: operation("send", RELAY_FRAME_SCHEMAS),
    },
    components: { messages },
  };
}

type FrameSchemas = Readonly<Record<string, FrameSchema>>;

function operation(action: "receive" | "send", frames: FrameSchemas) {
  return {
    action,
    channel: { $ref: "#/channels/socket" },
    messages: Object.values(frames).map(({ name }) => ({
      $ref: `#/channels/socket/messages/${name}`,
    })),
  };
}

function messagesOf(frames: FrameSchemas) {
  return Object.fromEntries(
    Object.values(frames).map(({ name, summary, schema, example }) => [
      name,
      { name, summary, payload: schema, examples: [{ payload: example }] },
    ]),
  );
}
