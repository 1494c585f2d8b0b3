/** One change of a unified diff: `before` stands where `after` is to stand, at about `line`. */
export type Hunk = {
  readonly line: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
};

/** A patch file: the lines `Fault:`, `Killed by:` and perhaps `Test:`, then a unified diff. */
export type Patch = {
  readonly fault: string;
  readonly killedBy: string;
  /** Which tests of the file are to fail; all of them may if it is not said. */
  readonly test: string | null;
  /** The changes by the path of the file, from the root. */
  readonly files: ReadonlyMap<string, readonly Hunk[]>;
};

/** Reads a patch file; throws with what is wrong with it. */
export function readPatch(text: string): Patch {
  const lines = text.split("\n");
  const files = new Map<string, Hunk[]>();
  let hunks: Hunk[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const file = /^\+\+\+ b\/([^\t]+)/.exec(line)?.[1];
    if (file !== undefined) {
      hunks = [];
      files.set(file, hunks);
    } else if (line.startsWith("@@")) {
      const [hunk, length] = readHunk(lines, at);
      hunks.push(hunk);
      at += length;
    }
  }
  const headOf = (name: string): string | null =>
    lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? null;
  const fault = headOf("Fault");
  const killedBy = headOf("Killed by");
  if (fault === null || killedBy === null)
    throw new Error("it must begin with Fault: and Killed by:");
  if (files.size === 0) throw new Error("it holds no unified diff with paths from the root");
  return { fault, killedBy, test: headOf("Test"), files };
}

/** Reads the hunk whose `@@` line is `lines[at]`; says how many lines it has below that. */
function readHunk(lines: readonly string[], at: number): [Hunk, number] {
  const head = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(lines[at] ?? "");
  if (head === null) throw new Error(`line ${at + 1} is not the head of a hunk`);
  const [, line = "1", removed = "1", added = "1"] = head;
  const before: string[] = [];
  const after: string[] = [];
  let next = at + 1;
  for (; before.length < Number(removed) || after.length < Number(added); next += 1) {
    const text = lines[next];
    if (text === undefined) throw new Error(`the hunk of line ${at + 1} is cut off`);
    if (!text.startsWith("+")) before.push(text.slice(1));
    if (!text.startsWith("-")) after.push(text.slice(1));
  }
  return [{ line: Number(line), before, after }, next - at - 1];
}

/**
 * Applies one file's hunks to its text. Lines must stand there exactly as the patch has them; where
 * they stand more than once, the place that the patch names decides. Throws where that is not so.
 */
export function applyHunks(text: string, hunks: readonly Hunk[]): string {
  const lines = text.split("\n");
  let moved = 0;
  for (const { line, before, after } of hunks) {
    const named = line - 1 + moved;
    const places = placesOf(lines, before);
    const place = places.includes(named) ? named : places.length === 1 ? places[0] : undefined;
    if (place === undefined) {
      const found = places.length === 0 ? "does not hold" : "holds more than once";
      throw new Error(`near line ${line} the file ${found}:\n${before.join("\n")}`);
    }
    lines.splice(place, before.length, ...after);
    moved = place - (line - 1) + after.length - before.length;
  }
  return lines.join("\n");
}

function placesOf(lines: readonly string[], wanted: readonly string[]): number[] {
  const places: number[] = [];
  for (let at = 0; at + wanted.length <= lines.length; at += 1) {
    if (wanted.every((line, each) => lines[at + each] === line)) places.push(at);
  }
  return places;
}
