interface Command {
  readonly purpose: string
  readonly line: string
}

/** What to do with a running server, for the terminal and for the page. */
export function toCommands(url: string): readonly Command[] {
  return [
    { purpose: 'Ask something', line: `curl -G ${url} --data-urlencode 'query={ hello }'` },
    { purpose: 'Run these audits', line: `npm run audit -- ${url}` },
    { purpose: 'Run all tests', line: 'npm test' },
  ]
}

export function toRatelimitCommands(ports: {
  readonly http: number
  readonly grpc: number
}): readonly Command[] {
  const entry = '{"key":"path","value":"/admin/x"}'
  const request = `{"domain":"api","descriptors":[{"entries":[${entry}]}]}`
  const client = `npm run ratelimit -- client -dial_string localhost:${ports.grpc}`
  return [
    {
      purpose: 'Ask whether a request may pass',
      line: `curl -d '${request}' http://localhost:${ports.http}/json`,
    },
    {
      purpose: 'Ask as Envoy does',
      line: `${client} -domain api -descriptors path=/search`,
    },
  ]
}

export function toAuthCommands(url: string): readonly Command[] {
  const body = `-d '{"email":"me@example.com","password":"correct horse battery"}'`
  return [
    { purpose: 'Sign up', line: `curl ${body} ${url}/signup` },
    { purpose: 'Sign in', line: `curl ${body} '${url}/token?grant_type=password'` },
  ]
}

const style = `
.try dl {
  display: grid; grid-template-columns: max-content 1fr; gap: .5rem 1rem; align-items: baseline;
  margin: 1rem 0 0; padding: 1rem 1.125rem; background: var(--card);
  border: 1px solid var(--line); border-radius: .5rem;
}
.try dt { color: var(--muted); }
.try dd { margin: 0; min-width: 0; }
@media (max-width: 40rem) {
  .try dl { grid-template-columns: 1fr; gap: .25rem; }
  .try dd { margin-bottom: .5rem; }
}
`

/** Adds the commands to an audit page, above its long lists. */
export function addTryIt(page: string, url: string): string {
  const rows = toCommands(url).map(
    ({ purpose, line }) => `<dt>${purpose}</dt><dd><pre>${line}</pre></dd>`,
  )
  const section = `<section class="try">
<h2>Try it</h2>
<p class="intro">In a terminal. To run the audits again, reload this page.</p>
<dl>
${rows.join('\n')}
</dl>
</section>`
  return page
    .replace('</style>', () => `${style}</style>`)
    .replace('</nav>', () => `</nav>\n${section}`)
}
