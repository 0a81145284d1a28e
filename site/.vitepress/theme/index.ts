import { useData } from 'vitepress'
import theme from 'vitepress/theme-without-fonts'
import { h } from 'vue'
import './style.css'

/** Section and group of a page, above its title. */
const Place = () => {
  const { frontmatter } = useData()
  const { place } = frontmatter.value
  return place
    ? h('nav', { class: 'place', 'aria-label': 'Place in the documentation' }, place)
    : null
}

// oxlint-disable-next-line import/no-default-export -- VitePress reads the default export.
export default {
  extends: theme,
  Layout: () => h(theme.Layout, null, { 'doc-before': () => h(Place) }),
}
