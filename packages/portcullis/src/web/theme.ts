import { useEffect, useState } from 'preact/hooks'

export type Theme = 'auto' | 'light' | 'dark'

export const themes: readonly Theme[] = ['auto', 'light', 'dark']

const storageKey = 'portcullis-theme'
const listeners = new Set<(theme: Theme) => void>()

function readTheme(): Theme {
  const stored = localStorage.getItem(storageKey)
  return themes.find((theme) => theme === stored) ?? 'auto'
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(storageKey, theme)
  applyStoredTheme()
  for (const listener of listeners) listener(theme)
}

/** The chosen theme; `auto` follows the system setting. */
export function useTheme(): Theme {
  const [theme, setShown] = useState(readTheme)
  useEffect(() => {
    listeners.add(setShown)
    return () => {
      listeners.delete(setShown)
    }
  }, [])
  return theme
}

/** Without a stored choice, the system setting applies. */
export function applyStoredTheme(): void {
  const theme = readTheme()
  if (theme === 'auto') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}

export function toNextTheme(theme: Theme): Theme {
  return themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'auto'
}
