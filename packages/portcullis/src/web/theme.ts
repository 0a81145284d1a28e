export type Theme = 'auto' | 'light' | 'dark'

const themes: readonly Theme[] = ['auto', 'light', 'dark']
const storageKey = 'portcullis-theme'

export function readTheme(): Theme {
  const stored = localStorage.getItem(storageKey)
  return themes.find((theme) => theme === stored) ?? 'auto'
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(storageKey, theme)
  applyStoredTheme()
}

/** Without a choice the system's own counts. */
export function applyStoredTheme(): void {
  const theme = readTheme()
  if (theme === 'auto') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}

export function toNextTheme(theme: Theme): Theme {
  return themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'auto'
}
