/** A fenced block of code on a page; `marks` are the words behind its language. */
export type CodeBlock = {
  readonly language: string;
  readonly marks: ReadonlySet<string>;
  readonly code: string;
  /** Where the fence opens, counted from 1. */
  readonly line: number;
};

const FENCE = /^(\s*)(`{3,})([^`]*)$/;

/** Finds the fenced blocks of a page, in order; the indentation of their fence is taken off. */
export function codeBlocks(markdown: string): readonly CodeBlock[] {
  const blocks: CodeBlock[] = [];
  const lines = markdown.split("\n");
  for (let at = 0; at < lines.length; at += 1) {
    const [, indent = "", fence = "", info = ""] = FENCE.exec(lines[at] ?? "") ?? [];
    if (fence === "") continue;
    const from = at + 1;
    for (at = from; at < lines.length && lines[at]?.trim() !== fence;) at += 1;
    const inside = lines.slice(from, at);
    const [language = "", ...marks] = info.trim().split(/\s+/);
    const code = inside.map((text) => (text.startsWith(indent) ? text.slice(indent.length) : text));
    blocks.push({ language, marks: new Set(marks), code: code.join("\n"), line: from });
  }
  return blocks;
}
