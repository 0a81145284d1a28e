// The settings of VitePress. `npm run docs` writes the pages and site.json into .cache first.

import { readFileSync } from 'node:fs'
import { defineConfig } from 'vitepress'
import { setUpMarkdown } from './markdown.ts'

// Node imports this file, not the esbuild of VitePress, which warns about the target in tsconfig.base.json.
const { toAnchor } = await import(new URL('../src/document.ts', import.meta.url).href)
const site = JSON.parse(readFileSync(new URL('../.cache/site.json', import.meta.url), 'utf8'))

// oxlint-disable-next-line import/no-default-export -- VitePress reads the default export.
export default defineConfig({
  title: 'Portcullis',
  description: 'GraphQL over HTTP, authentication and rate limits for API servers.',
  lang: 'en',
  srcDir: '.cache/pages',
  outDir: site.outDir,
  base: site.base,
  cacheDir: '.cache/vitepress',
  vite: {
    // The esbuild of the overrides in package.json cannot compile for the older browsers of the default.
    build: { target: 'es2022', chunkSizeWarningLimit: 2000 },
    optimizeDeps: { esbuildOptions: { target: 'es2022' } },
  },
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: site.iconUrl }]],
  markdown: {
    anchor: { slugify: toAnchor },
    attrs: { disable: true },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark' },
    config: setUpMarkdown,
  },
  themeConfig: {
    nav: site.nav,
    sidebar: site.sidebar,
    outline: { level: [2, 3] },
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: site.repositoryUrl }],
    // VitePress sends the text of this function to the browser, so it uses only its argument.
    editLink: {
      pattern: ({ frontmatter }) => frontmatter.sourceUrl,
      text: 'View the source of this page',
    },
    externalLinkIcon: true,
  },
})
