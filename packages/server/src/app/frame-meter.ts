/**
 * Follows the WebSocket frames in the bytes of one TCP connection, without keeping any, to know
 * what the WebSocket library does not tell: how much of an unfinished message has come and since
 * when, and how fast frames come. Times are monotonic ms. Source: SPEC 5.
 */
export class FrameMeter {
  /** When the last byte came: any byte is a sign of life. */
  lastByteAt: number;
  /** Bytes of the message that has begun and not ended, headers included. */
  unfinishedBytes = 0;
  /** When that message began; only meaningful while `unfinishedBytes` is above 0. */
  unfinishedSince = 0;
  #second = 0;
  #framesInSecond = 0;
  #bytesInSecond = 0;
  /** Header bytes seen of the current frame; -1 while its payload is awaited. */
  #headerAt = 0;
  #headerLength = 2;
  #isFinal = false;
  #isControl = false;
  #isMasked = false;
  #payloadLeft = 0;

  constructor(now: number) {
    this.lastByteAt = now;
    this.#second = now;
  }

  /** Takes the next bytes of the connection. */
  feed(chunk: Uint8Array, now: number): void {
    this.lastByteAt = now;
    if (now - this.#second >= 1000) {
      this.#second = now;
      this.#framesInSecond = 0;
      this.#bytesInSecond = 0;
    }
    this.#bytesInSecond += chunk.length;
    let at = 0;
    while (at < chunk.length) {
      const taken = this.#headerAt >= 0 ? this.#header(chunk, at) : this.#payload(chunk, at);
      if (!this.#isControl) {
        if (this.unfinishedBytes === 0) this.unfinishedSince = now;
        this.unfinishedBytes += taken;
      }
      at += taken;
      if (this.#headerAt === this.#headerLength) this.#headerAt = -1;
      if (this.#headerAt === -1 && this.#payloadLeft === 0) this.#frameEnded();
    }
  }

  /** Ms for which nothing more should be read, 0 while the rate is within the limits. */
  floodWait(now: number, framesMax: number, bytesMax: number): number {
    if (this.#framesInSecond <= framesMax && this.#bytesInSecond <= bytesMax) return 0;
    return Math.max(0, this.#second + 1000 - now);
  }

  /** Reads one header byte; the shape of the header is known after its second one. */
  #header(chunk: Uint8Array, at: number): number {
    const byte = chunk[at] ?? 0;
    if (this.#headerAt === 0) {
      this.#isFinal = (byte & 0x80) !== 0;
      this.#isControl = (byte & 0x08) !== 0;
      this.#headerLength = 2;
    } else if (this.#headerAt === 1) {
      const short = byte & 0x7f;
      const extended = short === 126 ? 2 : short === 127 ? 8 : 0;
      this.#isMasked = (byte & 0x80) !== 0;
      this.#headerLength = 2 + extended + (this.#isMasked ? 4 : 0);
      this.#payloadLeft = extended === 0 ? short : 0;
    } else if (this.#headerAt < this.#headerLength - (this.#isMasked ? 4 : 0)) {
      // Beyond 2^53 the number is not exact, and the library refuses the frame anyway.
      this.#payloadLeft = this.#payloadLeft * 256 + byte;
    }
    this.#headerAt += 1;
    return 1;
  }

  #payload(chunk: Uint8Array, at: number): number {
    const taken = Math.min(this.#payloadLeft, chunk.length - at);
    this.#payloadLeft -= taken;
    return taken;
  }

  #frameEnded(): void {
    this.#headerAt = 0;
    this.#framesInSecond += 1;
    if (this.#isControl) {
      // A control frame may stand between the fragments of a message and says nothing of it.
      this.#isControl = false;
      return;
    }
    if (this.#isFinal) this.unfinishedBytes = 0;
  }
}
