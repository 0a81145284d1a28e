import { render } from 'preact'
import { App } from './app.tsx'
import { applyStoredTheme } from './theme.ts'

applyStoredTheme()
const root = document.querySelector('#app')
if (root) render(<App />, root)
