import assert from 'node:assert/strict'
import type { Drill } from '../drill.ts'

type Bundle = typeof import('../../../packages/portcullis/bundle/bundle-web.ts')

export const consolePage: Drill = {
  kind: 'console page',
  package: 'portcullis',
  file: 'src/web/pages/pigeons-page.tsx',
  source: `
import type { JSX } from 'preact'
import { PageHeader } from '../components/page-header.tsx'

export function Page(): JSX.Element {
  return <PageHeader title="Pigeons" summary="All that are on their way." />
}
`,
  index: {
    file: 'src/web/pages/index.ts',
    list: 'pages',
    entry: "page('/pigeons', 'Dovecote', 'chat', () => import('./pigeons-page.tsx'))",
  },
  help: [],
  async prove(copy) {
    const { bundleWeb } = await copy.load<Bundle>('bundle/bundle-web.ts')
    const files = [...(await bundleWeb())]
    assert.match(files.find(([name]) => name === 'app.js')?.[1] ?? '', /Dovecote/)
    // Its code is in a separate file, which is loaded when the page is opened.
    const [own] = files.find(([, text]) => text.includes('on their way')) ?? []
    assert.match(own ?? '', /^pigeons-page-\w+\.js$/)
  },
}
