import { Link } from "@tanstack/react-router";
import type { ErrorComponentProps } from "@tanstack/react-router";
import { Button, buttonClasses } from "../ui/button.tsx";
import { FailureNote } from "../ui/notice.tsx";

/** What stands in place of a page that could not be made: its script did not load, or it broke. */
export function PageFailure({ error, reset }: ErrorComponentProps) {
  return (
    <div className="mx-auto flex max-w-lg flex-col gap-4 p-6">
      <FailureNote
        failure={error instanceof Error ? error : new Error(String(error))}
        onRetry={reset}
      />
      <p className="text-sm text-quiet">
        If Relay was updated a moment ago, this page is older than its server.
      </p>
      <div>
        <Button onClick={() => window.location.reload()}>Load the page anew</Button>
      </div>
    </div>
  );
}

export function NotFound() {
  return (
    <main className="mx-auto flex max-w-lg flex-col gap-4 p-6">
      <h1 className="text-xl font-semibold">There is no page at this address</h1>
      <div>
        <Link to="/" className={buttonClasses()}>
          To your projects
        </Link>
      </div>
    </main>
  );
}
