import theme from 'vitepress/theme-without-fonts'
import './style.css'

// biome-ignore lint/style/noDefaultExport: VitePress reads the default export.
export default theme
