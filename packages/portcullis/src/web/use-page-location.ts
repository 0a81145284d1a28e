import { useLocation } from 'preact-iso'

interface PageLocation {
  readonly query: Readonly<Record<string, string>>
  readonly route: (url: string, isReplacing?: boolean) => void
}

/**
 * The location for the code of a page. A timer or a request may end after the user has left the page; it must not
 * bring the user back.
 */
export function usePageLocation(): PageLocation {
  const { path, query, route } = useLocation()
  return {
    query,
    route(url, isReplacing) {
      if (toPath(location.pathname) === path) route(url, isReplacing)
    },
  }
}

/** Without slashes at the end, as the router compares paths. */
function toPath(pathname: string): string {
  return pathname.replace(/\/+$/, '') || '/'
}
