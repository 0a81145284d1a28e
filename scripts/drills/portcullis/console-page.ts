import assert from 'node:assert/strict'
import type { Drill } from '../drill.ts'

type Console = typeof import('../../../packages/portcullis/src/console/console.ts')
type Bundle = typeof import('../../../packages/portcullis/bundle/bundle-web.ts')

export const consolePage: Drill = {
  kind: 'console page',
  package: 'portcullis',
  file: 'src/web/pages/pigeons-page.tsx',
  source: `
import type { JSX } from 'preact'
import type { Pigeons } from '../../console/routes/pigeons.ts'
import { callApi } from '../api.ts'
import { PageHeader } from '../components/page-header.tsx'
import { useLoaded } from '../use-loaded.ts'

export function Page(): JSX.Element {
  const pigeons = useLoaded((signal) => callApi<Pigeons>('/api/pigeons', { signal }), [])
  const count = pigeons.state === 'ready' ? pigeons.value.count : 0
  return <PageHeader title="Pigeons" summary={\`\${count} are on their way.\`} />
}
`,
  // The half of the page that runs in the console's server.
  furtherFiles: {
    'src/console/routes/pigeons.ts': `
import type { AddRoutes } from '../settings.ts'

export interface Pigeons {
  readonly count: number
}

export const addRoutes: AddRoutes = (server) => {
  server.get('/api/pigeons', async (): Promise<Pigeons> => ({ count: 7 }))
}
`,
  },
  index: {
    file: 'src/web/pages/index.ts',
    list: 'pages',
    entry: "page('/pigeons', 'Dovecote', 'chat', () => import('./pigeons-page.tsx'))",
  },
  help: [],
  async prove(copy) {
    const { bundleWeb } = await copy.load<Bundle>('bundle/bundle-web.ts')
    const files = [...(await bundleWeb())]
    assert.ok(files.some(([name, text]) => name.endsWith('.js') && text.includes('Dovecote')))
    // Its code is in a separate file, which is loaded when the page is opened.
    const [own] = files.find(([, text]) => text.includes('on their way')) ?? []
    assert.match(own ?? '', /^pigeons-page-\w+\.js$/)

    const { openConsole } = await copy.load<Console>('src/console/console.ts')
    const token = 'a-token'
    await using console = await openConsole({ host: '127.0.0.1', port: 0, token, version: '1.2.3' })
    const entered = await fetch(console.entryUrl, { redirect: 'manual' })
    const [cookie = ''] = entered.headers.getSetCookie()
    const headers = { cookie: cookie.replace(/;.*/s, '') }
    const response = await fetch(`${console.url}/api/pigeons`, { headers })
    assert.deepEqual(await response.json(), { count: 7 })
  },
}
