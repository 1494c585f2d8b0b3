/** Two ends and what joins them. */
export function Mark({ className = "size-5" }: { readonly className?: string }) {
  return (
    <svg
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="2.25"
      aria-hidden
      className={`${className} shrink-0 text-accent`}
    >
      <circle cx="5.5" cy="12" r="3.25" />
      <circle cx="18.5" cy="12" r="3.25" fill="currentColor" />
      <path d="M8.75 12h6.5" />
    </svg>
  );
}

export function Brand() {
  return (
    <span className="inline-flex items-center gap-2 text-base font-semibold tracking-tight">
      <Mark />
      Relay
    </span>
  );
}
