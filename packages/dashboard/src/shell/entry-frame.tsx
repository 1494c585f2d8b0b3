import type { ReactNode } from "react";
import { Brand } from "./brand.tsx";

/** The frame of the pages before the sign-in: one small card in the middle. */
export function EntryFrame({
  title,
  note,
  children,
  below,
}: {
  readonly title: string;
  readonly note?: ReactNode;
  readonly children: ReactNode;
  readonly below?: ReactNode;
}) {
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-sm flex-col justify-center gap-6 px-4 py-10">
      <Brand />
      <div>
        <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
        {note === undefined ? null : <div className="mt-1 text-sm text-quiet">{note}</div>}
      </div>
      {children}
      {below === undefined ? null : <div className="text-sm text-quiet">{below}</div>}
    </main>
  );
}
