import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { Icon, type IconName } from '../components/icons.tsx'
import { pages } from '../pages/index.ts'
import { useSession } from '../session.ts'
import { setTheme, type Theme, toNextTheme, useTheme } from '../theme.ts'
import { Keys } from './keys.tsx'
import type { OverlayName } from './overlays.tsx'

export interface SidebarProps {
  readonly onShow: (name: OverlayName) => void
}

export function Sidebar({ onShow }: SidebarProps): JSX.Element {
  const { path } = useLocation()
  const { version } = useSession()
  const nav = useRef<HTMLElement>(null)
  // In a narrow window the navigation may be longer than the window.
  useEffect(() => {
    const current = nav.current?.querySelector('[aria-current]')
    if (nav.current && current) scrollToMiddle(nav.current, current)
  }, [path])
  return (
    <header class="sidebar">
      <a class="brand" href="/">
        <Icon name="gate" />
        <span>Portcullis</span>
      </a>
      <button
        type="button"
        class="palette-button"
        aria-keyshortcuts="Control+K Meta+K"
        aria-haspopup="dialog"
        onClick={() => onShow('palette')}
      >
        <Icon name="search" />
        <span class="label">
          Search<span class="hidden"> or run a command</span>
        </span>
        <span class="palette-keys" aria-hidden="true">
          <Keys keys="Mod+k" />
        </span>
      </button>
      <nav ref={nav} class="nav" aria-label="Pages">
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
        <div class="row tight">
          <button
            type="button"
            class="button quiet small help-button"
            aria-label="Keyboard shortcuts"
            title="Keyboard shortcuts"
            aria-haspopup="dialog"
            onClick={() => onShow('help')}
          >
            <Icon name="keyboard" />
          </button>
          <ThemeButton />
        </div>
      </div>
    </header>
  )
}

const themeIcons: Readonly<Record<Theme, IconName>> = { auto: 'system', light: 'sun', dark: 'moon' }

function ThemeButton(): JSX.Element {
  const theme = useTheme()
  const label = `Theme: ${theme === 'auto' ? 'system' : theme}. Change`
  return (
    <button
      type="button"
      class="button quiet small theme-button"
      aria-label={label}
      title={label}
      onClick={() => setTheme(toNextTheme(theme))}
    >
      <Icon name={themeIcons[theme]} />
    </button>
  )
}

/**
 * Unlike scrollIntoView, it does not change where the Tab key continues: some versions of Chromium would continue at
 * the element, after the link that skips the navigation.
 */
function scrollToMiddle(list: Element, element: Element): void {
  const outer = list.getBoundingClientRect()
  const inner = element.getBoundingClientRect()
  list.scrollLeft += inner.left + inner.width / 2 - (outer.left + outer.width / 2)
}
