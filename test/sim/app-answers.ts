import type { CallId } from "@relay/protocol";
import type { Random } from "./random.ts";

/** An app's answer: `broken` breaks a rule; `said` is what the host must read of it, if anything. */
export type AppAnswer = {
  readonly how: "result" | "failure" | "error" | "broken";
  readonly text: string;
  readonly said: string | null;
};

/** Makes up an answer to a call; `said` is in it, unless it is broken. */
export function answerTo(callId: CallId, said: string, random: Random): AppAnswer {
  const id = JSON.stringify(callId);
  const content = `[{"type":"text","text":${JSON.stringify(said)}}]`;
  const how = random.weighted({ result: 6, failure: 1, error: 2, broken: 2 });
  switch (how) {
    case "result":
      return { how, said, text: `{"type":"result","id":${id},"content":${content}}` };
    case "failure":
      return {
        how,
        said,
        text: `{"type":"result","id":${id},"content":${content},"isError":true}`,
      };
    case "error":
      return { how, said, text: `{"type":"error","id":${id},"message":${JSON.stringify(said)}}` };
    case "broken":
      return { how, said: null, text: random.pick(broken(id)) };
  }
}

function broken(id: string): [string, ...string[]] {
  return [
    `{"type":"result","id":${id}}`,
    `{"type":"result","id":${id},"content":"no list"}`,
    `{"type":"result","id":${id},"content":[{"type":"text"}]}`,
    `{"type":"result","id":${id},"content":[],"isError":"yes"}`,
    `{"type":"result","id":${id},"content":[],"content":[]}`,
    `{"type":"result","id":${id},"content":[],"structuredContent":[1]}`,
    `{"type":"error","id":${id},"message":7}`,
    `{"type":"error","id":${id}}`,
  ];
}
