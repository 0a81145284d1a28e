import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { ErrorBoundary, LocationProvider, Route, Router, useLocation } from 'preact-iso'
import { callApi, useAccessLost } from './api.ts'
import { Icon, type IconName } from './components/icons.tsx'
import { PageHeader } from './components/page-header.tsx'
import { Empty, Failure, Loading, Notice } from './components/states.tsx'
import { Toasts } from './components/toasts.tsx'
import { pages } from './pages/index.ts'
import { type ConsoleSession, SessionContext, useSession } from './session.ts'
import { useLoaded } from './use-loaded.ts'

export function App(): JSX.Element {
  const session = useLoaded((signal) => callApi<ConsoleSession>('/api/session', { signal }), [])
  if (session.state === 'loading') return <Loading />
  if (session.state === 'failed') return <Failure error={session.error} onRetry={session.reload} />
  return (
    <SessionContext value={session.value}>
      <LocationProvider>
        <div class="shell">
          <a class="skip" href="#content">
            Skip to content
          </a>
          <Sidebar />
          <main id="content" class="content" tabIndex={-1}>
            <AccessLost />
            <ErrorBoundary>
              <Router onRouteChange={focusContent}>
                {pages.map(({ path, component }) => (
                  <Route key={path} path={path} component={component} />
                ))}
                <Route default component={NoSuchPage} />
              </Router>
            </ErrorBoundary>
          </main>
        </div>
      </LocationProvider>
      <Toasts />
    </SessionContext>
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

function Sidebar(): JSX.Element {
  const { path } = useLocation()
  const { version } = useSession()
  return (
    <header class="sidebar">
      <a class="brand" href="/">
        <Icon name="gate" />
        <span>Portcullis</span>
      </a>
      <nav class="nav" aria-label="Pages">
        {pages.map((page) => (
          <a
            key={page.path}
            href={page.path}
            aria-current={page.path === path ? 'page' : undefined}
          >
            <Icon name={page.icon} />
            <span class="label">{page.title}</span>
            {page.marker && <page.marker />}
          </a>
        ))}
      </nav>
      <div class="sidebar-foot">
        <span class="version">{version}</span>
        <ThemeButton />
      </div>
    </header>
  )
}

const themeIcons: Readonly<Record<Theme, IconName>> = { auto: 'system', light: 'sun', dark: 'moon' }

function ThemeButton(): JSX.Element {
  const [theme, setShown] = useState(readTheme)
  const change = () => {
    const next = toNextTheme(theme)
    setTheme(next)
    setShown(next)
  }
  const label = `Theme: ${theme === 'auto' ? 'system' : theme}. Change`
  return (
    <button
      type="button"
      class="button quiet small"
      aria-label={label}
      title={label}
      onClick={change}
    >
      <Icon name={themeIcons[theme]} />
    </button>
  )
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

type Theme = 'auto' | 'light' | 'dark'

const themes: readonly Theme[] = ['auto', 'light', 'dark']
const storageKey = 'portcullis-theme'

function readTheme(): Theme {
  const stored = localStorage.getItem(storageKey)
  return themes.find((theme) => theme === stored) ?? 'auto'
}

function setTheme(theme: Theme): void {
  localStorage.setItem(storageKey, theme)
  applyStoredTheme()
}

/** Without a stored choice, the system setting applies. */
export function applyStoredTheme(): void {
  const theme = readTheme()
  if (theme === 'auto') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}

function toNextTheme(theme: Theme): Theme {
  return themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'auto'
}
