import { render } from 'preact'
import { App, applyStoredTheme } from './app.tsx'

applyStoredTheme()
const root = document.querySelector('#app')
if (root) render(<App />, root)
