import assert from "node:assert/strict";
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { Writable } from "node:stream";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { openLog } from "../observe/log.ts";
import { SmtpMail, confirmLetter, invitationLetter, passwordLetter } from "./mail.ts";

/** A mail server that takes one letter after the other, or refuses every address. */
async function openServer(t: TestContext, refuses = false) {
  const received: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let inData = false;
    let text = "";
    socket.on("error", () => socket.destroy());
    socket.write("220 mail.example.com ESMTP\r\n");
    socket.on("data", (chunk) => {
      text += chunk.toString();
      for (let end = text.indexOf("\r\n"); end !== -1; end = text.indexOf("\r\n")) {
        const line = text.slice(0, end);
        text = text.slice(end + 2);
        received.push(line);
        if (inData) {
          if (line !== ".") continue;
          inData = false;
          socket.write("250 taken\r\n");
        } else if (line === "DATA") {
          inData = true;
          socket.write("354 go on\r\n");
        } else if (refuses && line.startsWith("RCPT")) {
          socket.write("550 no such box here\r\n");
        } else socket.write("250 fine\r\n");
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  // Listens on a port, so that its address is no path.
  const { port } = server.address() as AddressInfo;
  return { url: `smtp://127.0.0.1:${port}`, received };
}

function openMail(url: string) {
  const lines: string[] = [];
  const sink = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(String(chunk));
      done();
    },
  });
  return { mail: new SmtpMail(url, "relay@example.com", openLog("debug", sink)), lines };
}

test("a letter reaches the mail server with its sender, its reader and its link", async (t) => {
  const server = await openServer(t);
  const { mail, lines } = openMail(server.url);
  const link = "https://relay.example.com/reset-password#token=rp_0123456789abcdef";
  await mail.send(passwordLetter("ann@example.com", link));
  const all = server.received.join("\n");
  assert.match(all, /^MAIL FROM:<relay@example\.com>/m);
  assert.match(all, /^RCPT TO:<ann@example\.com>/m);
  assert.match(all, /^Subject: Set a new password for Relay$/m);
  // A long line is sent in two, the first of which ends in an equals sign.
  assert.ok(all.replaceAll("=\n", "").replaceAll("=3D", "=").includes(link));
  assert.deepEqual(lines, []);
});

test("a letter that is not taken is in the log without its words or its reader", async (t) => {
  const server = await openServer(t, true);
  const { mail, lines } = openMail(server.url);
  await mail.send(confirmLetter("ann@example.com", "https://relay.example.com/x?token=secret"));
  const log = lines.join("");
  assert.match(log, /a mail could not be sent/);
  assert.doesNotMatch(log, /ann@example|secret/);
});

test("a mail server that is not there loses the letter, and nothing waits for ever", async () => {
  const { mail, lines } = openMail("smtp://127.0.0.1:1");
  await mail.send(invitationLetter("ann@example.com", "https://relay.example.com/invitation"));
  assert.match(lines.join(""), /"code":"(ESOCKET|ECONNECTION)"/);
});

test("past fifty letters on their way one is dropped, and the log says so", async (t) => {
  const server = await openServer(t);
  const { mail, lines } = openMail(server.url);
  const letter = invitationLetter("ann@example.com", "https://relay.example.com/invitation");
  await Promise.all(Array.from({ length: 51 }, () => mail.send(letter)));
  assert.equal(lines.filter((line) => line.includes("a mail was dropped")).length, 1);
  assert.equal(server.received.filter((line) => line === "DATA").length, 50);
});
