import { Link, useLocation } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { ReactNode } from "react";
import { Button } from "../ui/button.tsx";
import { classes } from "../ui/classes.ts";
import { Toasts } from "../ui/toast.tsx";
import { Brand } from "./brand.tsx";
import { Nav } from "./nav.tsx";

/** The frame around every page: the way to the others, at the side, or above on a narrow screen. */
export function AppFrame({ children }: { readonly children: ReactNode }) {
  const { pathname } = useLocation();
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [pathname]);
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[15rem_minmax(0,1fr)]">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-ink focus:px-3 focus:py-2 focus:text-paper"
      >
        Skip to the page
      </a>
      <header className="flex items-center justify-between border-b border-line bg-sunken px-4 py-2 md:hidden">
        <Link to="/projects" aria-label="Relay, all projects">
          <Brand />
        </Link>
        <Button small aria-expanded={open} aria-controls="nav" onClick={() => setOpen(!open)}>
          {open ? "Close" : "Menu"}
        </Button>
      </header>
      <aside
        id="nav"
        aria-label="Relay"
        className={classes(
          "border-line bg-sunken md:sticky md:top-0 md:block md:h-dvh md:overflow-y-auto md:border-r",
          open ? "border-b" : "hidden",
        )}
      >
        <Nav />
      </aside>
      <main id="main" tabIndex={-1} className="min-w-0 px-4 py-6 outline-none sm:px-8 sm:py-8">
        <div className="mx-auto max-w-6xl">{children}</div>
      </main>
      <Toasts />
    </div>
  );
}
