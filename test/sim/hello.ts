import type { LinkToken } from "@relay/protocol";

/** A hello with the one tool that simulated hosts call; `variant` makes another manifest of it. */
export function helloText(token: LinkToken | string, variant: number): string {
  return JSON.stringify({
    type: "hello",
    protocol: 1,
    token,
    app: { name: "Simulated app", version: `1.${variant}` },
    tools: [
      {
        name: "work",
        description: "Does what it is told",
        inputSchema: {
          type: "object",
          properties: { call: { type: "number" } },
          required: ["call"],
        },
      },
    ],
  });
}
