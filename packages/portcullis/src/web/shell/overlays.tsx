import type { FunctionComponent, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { useActions } from '../actions.ts'
import { callApi } from '../api.ts'
import { Dialog } from '../components/dialog.tsx'
import { Loading, PageNotLoaded } from '../components/states.tsx'
import { type Page, pages } from '../pages/index.ts'
import { startShortcuts, usePendingShortcuts, useShortcut } from '../shortcuts.ts'
import { setTheme } from '../theme.ts'
import { useLoaded } from '../use-loaded.ts'
import { Keys } from './keys.tsx'

interface OverlayKind {
  readonly title: string
  readonly isTitleHidden: boolean
  /** Loaded when it is first opened. */
  readonly load: () => Promise<FunctionComponent>
}

const kinds = {
  palette: {
    title: 'Command palette',
    isTitleHidden: true,
    load: () => import('./palette.tsx').then(({ Palette }) => Palette),
  },
  help: {
    title: 'Keyboard shortcuts',
    isTitleHidden: false,
    load: () => import('./help.tsx').then(({ Help }) => Help),
  },
} as const satisfies Readonly<Record<string, OverlayKind>>

export type OverlayName = keyof typeof kinds

export interface ShownOverlay {
  readonly name: OverlayName
  /** A new number for each opening, so that a dialog that is closing is not mistaken for the one that opens. */
  readonly turn: number
}

let turns = 0

/** @returns the open dialog, if any, and how to open and close one. */
export function useOverlay(): readonly [
  ShownOverlay | undefined,
  (name: OverlayName | undefined) => void,
] {
  const [shown, setShown] = useState<ShownOverlay>()
  return [shown, (name) => setShown(name && { name, turn: ++turns })]
}

interface OverlaysProps {
  readonly shown: ShownOverlay | undefined
  readonly onShow: (name: OverlayName | undefined) => void
}

/** The command palette, the help, and the keys and actions of the whole console. */
export function Overlays({ shown, onShow }: OverlaysProps): JSX.Element {
  useEffect(startShortcuts, [])
  useShortcut({
    keys: 'Mod+k',
    label: 'Search pages, actions, users and rules',
    isGlobal: true,
    run: () => onShow('palette'),
  })
  useShortcut({
    keys: '?',
    label: 'Show keyboard shortcuts',
    isGlobal: true,
    run: () => onShow('help'),
  })
  const toTheme = { words: 'theme appearance colours', icon: 'system' } as const
  useActions([
    { ...toTheme, label: 'Use the light theme', icon: 'sun', run: () => setTheme('light') },
    { ...toTheme, label: 'Use the dark theme', icon: 'moon', run: () => setTheme('dark') },
    { ...toTheme, label: 'Use the system theme', run: () => setTheme('auto') },
    {
      label: 'Show keyboard shortcuts',
      icon: 'keyboard',
      words: 'help keys',
      run: () => onShow('help'),
    },
    { label: 'Sign out', icon: 'close', words: 'log out leave', run: signOut },
  ])
  const letters = toLetters(pages)
  return (
    <>
      {pages.map((page) => {
        const letter = letters.get(page)
        return letter && <PageShortcut key={page.path} page={page} letter={letter} />
      })}
      <PendingKeys />
      {shown && (
        <Overlay key={shown.turn} kind={kinds[shown.name]} onClose={() => onShow(undefined)} />
      )}
    </>
  )
}

/** Deletes the cookie of this browser; the page then says how to open the console again. */
async function signOut(): Promise<void> {
  await callApi('/api/session', { method: 'DELETE' })
  location.assign('/')
}

interface OverlayProps {
  readonly kind: OverlayKind
  readonly onClose: () => void
}

function Overlay({ kind, onClose }: OverlayProps): JSX.Element {
  const content = useLoaded(kind.load, [])
  return (
    <Dialog
      title={kind.title}
      isTitleHidden={kind.isTitleHidden}
      isLight
      class={kind.isTitleHidden ? 'palette' : 'help'}
      onClose={onClose}
    >
      {content.state === 'loading' && <Loading />}
      {content.state === 'failed' && <PageNotLoaded />}
      {content.state === 'ready' && <content.value />}
    </Dialog>
  )
}

interface PageShortcutProps {
  readonly page: Page
  readonly letter: string
}

function PageShortcut({ page, letter }: PageShortcutProps): null {
  const { route } = useLocation()
  useShortcut({
    keys: `g ${letter}`,
    label: `Go to ${page.title}`,
    isGlobal: true,
    run: () => route(page.path),
  })
  return null
}

/** Assigns each page the first letter of its title that no earlier page has. */
function toLetters(all: readonly Page[]): ReadonlyMap<Page, string> {
  const letters = new Map<Page, string>()
  const used = new Set<string>()
  for (const page of all) {
    const letter = [...page.title.toLowerCase()].find(
      (each) => /[a-z]/.test(each) && !used.has(each),
    )
    if (letter === undefined) continue
    used.add(letter)
    letters.set(page, letter)
  }
  return letters
}

/** Shows how a sequence of keys can continue. There is no time limit, for users who press keys slowly. */
function PendingKeys(): JSX.Element {
  const shortcuts = usePendingShortcuts()
  return (
    <div role="status">
      {shortcuts.length > 0 && (
        <ul class="pending-keys">
          {shortcuts.map(({ keys, label }) => (
            <li key={keys}>
              <Keys keys={keys.slice(keys.indexOf(' ') + 1)} /> {label}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
