import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

export interface Shortcut {
  /**
   * A key such as `/`, keys one after the other such as `g u`, or `Mod+k` for Ctrl-K, which is Cmd-K on Apple
   * devices. Without `run`, several keys can be listed: `ArrowUp ArrowDown`.
   */
  readonly keys: string
  /** What the keys do, for the list of shortcuts: `Search users`. */
  readonly label: string
  /** Whether it works on every page. */
  readonly isGlobal?: boolean
  /** Undefined for keys that a component handles itself, such as the arrow keys of a list. */
  readonly run?: () => void
}

const registered = new Set<{ readonly current: Shortcut | undefined }>()

/** Registers keys while the component is shown, and lists them in the help. If undefined, nothing is registered. */
export function useShortcut(shortcut: Shortcut | undefined): void {
  const latest = useRef(shortcut)
  latest.current = shortcut
  // A layout effect runs before the component is visible, so a user who sees it can use its keys.
  useLayoutEffect(() => {
    registered.add(latest)
    return () => {
      registered.delete(latest)
    }
  }, [])
}

/** Registers `/` for a search field. @returns the ref for the field. */
export function useSearchShortcut(label: string): RefObject<HTMLInputElement | null> {
  const field = useRef<HTMLInputElement>(null)
  const run = () => {
    field.current?.focus()
    field.current?.select()
  }
  useShortcut({ keys: '/', label, run })
  return field
}

function listRegistered(): readonly Shortcut[] {
  return [...registered].map(({ current }) => current).filter((each) => each !== undefined)
}

/** Lists what is registered now; components that are shown twice are listed once. */
export function listShortcuts(): readonly Shortcut[] {
  return [
    ...new Map(listRegistered().map((each) => [`${each.keys}\n${each.label}`, each])).values(),
  ]
}

const storageKey = 'portcullis-single-keys'

/** Users of speech input need to switch off shortcuts of one character (WCAG 2.1.4). */
export function areSingleKeysOn(): boolean {
  return localStorage.getItem(storageKey) !== 'off'
}

export function setSingleKeysOn(isOn: boolean): void {
  if (isOn) localStorage.removeItem(storageKey)
  else localStorage.setItem(storageKey, 'off')
}

/** The first keys of a sequence, until the next key. */
let pending = ''
const listeners = new Set<(keys: string) => void>()

function setPending(keys: string): void {
  if (keys === pending) return
  pending = keys
  for (const listener of listeners) listener(keys)
}

/** The shortcuts that the next key can complete. */
export function usePendingShortcuts(): readonly Shortcut[] {
  const [keys, setKeys] = useState(pending)
  useEffect(() => {
    listeners.add(setKeys)
    return () => {
      listeners.delete(setKeys)
    }
  }, [])
  return keys === '' ? [] : listShortcuts().filter((each) => each.keys.startsWith(`${keys} `))
}

/** Starts to handle the keys of the page. @returns how to stop. */
export function startShortcuts(): () => void {
  const cancel = () => setPending('')
  document.addEventListener('keydown', press)
  document.addEventListener('pointerdown', cancel)
  window.addEventListener('blur', cancel)
  return () => {
    document.removeEventListener('keydown', press)
    document.removeEventListener('pointerdown', cancel)
    window.removeEventListener('blur', cancel)
  }
}

/** A sequence of keys continues after a modifier key alone. */
const modifiers = new Set(['Shift', 'Control', 'Alt', 'Meta', 'CapsLock', 'AltGraph'])

function press(event: KeyboardEvent): void {
  if (modifiers.has(event.key)) return
  const before = pending
  setPending('')
  // A component has handled the key, or an input method is composing a character.
  if (event.defaultPrevented || event.isComposing || event.repeat) return
  const key = toKey(event)
  if (key === undefined || document.querySelector('dialog:modal')) return
  const isSingle = !key.startsWith('Mod+')
  if (isSingle && (!areSingleKeysOn() || isTyping(event.target))) return
  const keys = before === '' ? key : `${before} ${key}`
  const usable = listRegistered().filter(({ run }) => run)
  // The component that was shown last comes first.
  const found = usable.findLast((each) => each.keys === keys)
  if (found) {
    event.preventDefault()
    found.run?.()
  } else if (usable.some((each) => each.keys.startsWith(`${keys} `))) {
    event.preventDefault()
    setPending(keys)
  }
}

export const isApple = /^(?:Mac|iP)/.test(navigator.platform)

/** Returns undefined for combinations that belong to the browser, the system or a screen reader. */
function toKey(event: KeyboardEvent): string | undefined {
  const { key, ctrlKey, metaKey, altKey, shiftKey } = event
  const isMod = isApple ? metaKey && !ctrlKey : ctrlKey && !metaKey
  if (isMod && !altKey && !shiftKey) return `Mod+${key.toLowerCase()}`
  if (ctrlKey || metaKey || altKey) return undefined
  // Caps lock does not change what a key does.
  return shiftKey ? key : key.toLowerCase()
}

const fields = [
  'textarea',
  'select',
  '[contenteditable]:not([contenteditable="false"])',
  '[role="textbox"]',
  'input:not([type="button"], [type="checkbox"], [type="radio"], [type="reset"], [type="submit"])',
].join()

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(fields) !== null
}
