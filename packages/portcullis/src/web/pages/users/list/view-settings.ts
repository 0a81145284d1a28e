import { useState } from 'preact/hooks'
import { type Column, columns } from './columns.tsx'
import type { Density } from './list-window.ts'

/** How the list is shown. It is kept in the browser, because it is not part of what a URL shares. */
export interface ViewSettings {
  readonly columns: readonly Column[]
  readonly density: Density
}

const storageKey = 'portcullis-users-view'

export const defaultColumns: readonly Column[] = columns.filter(
  ({ isHiddenByDefault = false }) => !isHiddenByDefault,
)

export function useViewSettings(): readonly [ViewSettings, (settings: ViewSettings) => void] {
  const [settings, setSettings] = useState(() => parseSettings(localStorage.getItem(storageKey)))
  const change = (changed: ViewSettings) => {
    setSettings(changed)
    localStorage.setItem(storageKey, formatSettings(changed))
  }
  return [settings, change]
}

/** Returns the default if nothing is stored. Unknown columns are ignored: another version may have stored them. */
export function parseSettings(text: string | null): ViewSettings {
  if (text === null) return { columns: defaultColumns, density: 'comfortable' }
  const [density, ...names] = text.split(' ')
  return {
    columns: columns.filter(({ name }) => names.includes(name)),
    density: density === 'compact' ? 'compact' : 'comfortable',
  }
}

export function formatSettings({ columns: shown, density }: ViewSettings): string {
  return [density, ...shown.map(({ name }) => name)].join(' ')
}
