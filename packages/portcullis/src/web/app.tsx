import type { JSX } from 'preact'
import { useEffect, useErrorBoundary, useRef } from 'preact/hooks'
import { ErrorBoundary, LocationProvider, Route, Router, useLocation } from 'preact-iso'
import { callApi, useAccessLost } from './api.ts'
import { PageHeader } from './components/page-header.tsx'
import { Empty, Failure, Loading, Notice } from './components/states.tsx'
import { Toasts } from './components/toasts.tsx'
import { pages } from './pages/index.ts'
import { type ConsoleSession, SessionContext } from './session.ts'
import { Overlays, useOverlay } from './shell/overlays.tsx'
import { Sidebar } from './shell/sidebar.tsx'
import { useLoaded } from './use-loaded.ts'

export function App(): JSX.Element {
  const session = useLoaded((signal) => callApi<ConsoleSession>('/api/session', { signal }), [])
  if (session.state === 'ready') {
    return (
      <SessionContext value={session.value}>
        <LocationProvider>
          <Shell />
        </LocationProvider>
        <Toasts />
      </SessionContext>
    )
  }
  return (
    <main class="content">
      {session.state === 'loading' ? (
        <Loading />
      ) : (
        <Failure error={session.error} onRetry={session.reload} />
      )}
    </main>
  )
}

function Shell(): JSX.Element {
  const [overlay, setOverlay] = useOverlay()
  return (
    <div class="shell">
      <a class="skip" href="#content">
        Skip to content
      </a>
      <Sidebar onShow={setOverlay} />
      <main id="content" class="content" tabIndex={-1}>
        <AccessLost />
        <Pages />
      </main>
      <Overlays shown={overlay} onShow={setOverlay} />
    </div>
  )
}

function Pages(): JSX.Element {
  const { path } = useLocation()
  const [error, forgetError] = useErrorBoundary()
  const lastShown = useRef(path)
  useEffect(() => {
    if (lastShown.current !== path) forgetError()
    lastShown.current = path
  }, [path])
  if (error !== undefined) return <BrokenPage error={error} />
  return (
    <ErrorBoundary>
      <Router onRouteChange={focusContent}>
        {pages.map((page) => (
          <Route key={page.path} path={page.path} component={page.component} />
        ))}
        <Route default component={NoSuchPage} />
      </Router>
    </ErrorBoundary>
  )
}

function AccessLost(): JSX.Element | null {
  if (!useAccessLost()) return null
  return (
    <Notice tone="danger" title="Your access has expired.">
      The console was restarted with a new token. Open the address shown in its terminal.
    </Notice>
  )
}

let lastPath = location.pathname

/** Moves the focus to the new page, so that screen readers read it instead of the rest of the navigation. */
function focusContent(): void {
  // A change of the query alone is not a page change.
  if (location.pathname === lastPath) return
  lastPath = location.pathname
  document.querySelector<HTMLElement>('#content')?.focus({ preventScroll: true })
}

function NoSuchPage(): JSX.Element {
  return (
    <>
      <PageHeader title="Page not found" summary="The console has no page at this address." />
      <Empty icon="gate" title="This page does not exist">
        Choose a page from the menu.
      </Empty>
    </>
  )
}

/** Shown instead of a page whose code threw an error. The other pages still work. */
function BrokenPage({ error }: { readonly error: unknown }): JSX.Element {
  return (
    <>
      <PageHeader
        title="Page not shown"
        summary="The page stopped because of an error in its code."
      />
      <Failure error={error} onRetry={() => location.reload()} />
    </>
  )
}
