import { useEffect, useState } from "react";

/**
 * The token behind `#token=` in the address, which browsers send to nobody. It is taken out of the
 * address at once, so that it stays in no history, and kept for as long as the page is open. A newer
 * link that is opened in the same tab loads no page: its token takes the place of the first.
 */
export function useFragmentToken(): string | null {
  const [token, setToken] = useState(readToken);
  useEffect(() => {
    const take = (): void => {
      const newer = readToken();
      if (newer === null) return;
      setToken(newer);
      const { pathname, search } = window.location;
      window.history.replaceState(window.history.state, "", pathname + search);
    };
    take();
    window.addEventListener("hashchange", take);
    return () => window.removeEventListener("hashchange", take);
  }, []);
  return token;
}

function readToken(): string | null {
  return new URLSearchParams(window.location.hash.slice(1)).get("token");
}
