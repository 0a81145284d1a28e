import { createHash } from 'node:crypto'
import type { Services } from '../../../services.ts'
import { escapeHtml } from '../../../template/escape.ts'

/** Text that is already HTML. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = string | Html | readonly Html[] | undefined

/** Writes HTML. Every inserted text is escaped; undefined is left out. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const written = texts.map((text, index) => text + toText(parts[index]))
  return new Html(written.join(''))
}

function toText(part: Part): string {
  if (part === undefined) return ''
  if (part instanceof Html) return part.text
  return typeof part === 'string' ? escapeHtml(part) : part.map(({ text }) => text).join('')
}

/** A complete page with the headers that protect it. */
export interface Page {
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
}

/** A stylesheet of the operator can set the custom properties, or any other rule. */
const style = `:root{color-scheme:light dark;--accent:#1a5fb4;--on-accent:#fff;--radius:.5rem;
--font:16px/1.5 system-ui,sans-serif;--line:color-mix(in srgb,currentColor 25%,transparent)}
body{font:var(--font);max-width:26rem;margin:8vh auto;padding:0 1rem}
h1{font-size:1.4rem;line-height:1.3}strong{overflow-wrap:anywhere}
ul{padding-left:1.2rem}
label{display:block;margin:.75rem 0}
input{box-sizing:border-box;width:100%;font:inherit;padding:.5rem;border:1px solid var(--line);
border-radius:var(--radius)}
button{font:inherit;padding:.5rem 1rem;margin:.5rem .5rem .5rem 0;border:1px solid var(--line);
border-radius:var(--radius);background:none;color:inherit;cursor:pointer}
button.main{background:var(--accent);border-color:var(--accent);color:var(--on-accent)}
[role=alert]{border-left:.25rem solid #c01c28;padding-left:.75rem}
.note{font-size:.9rem;opacity:.8}`

const styleHash = `'sha256-${createHash('sha256').update(style).digest('base64')}'`

/**
 * The page cannot be framed, and runs no scripts except the one whose hash is given. Forms are not limited to this server, because
 * browsers apply that limit to the redirect to the client as well.
 */
export function toPage(
  services: Services,
  title: string,
  content: Html,
  scriptHash?: string,
): Page {
  const { pageStylesheet: sheet } = services.config.oauthServer
  const written = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · ${toServiceName(services)}</title>
<style>${new Html(style)}</style>
${sheet === '' ? undefined : html`<link rel="stylesheet" href="${sheet}">`}
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`
  const styles = sheet === '' ? styleHash : `${styleHash} ${toSource(sheet)}`
  const policy = [
    "default-src 'none'",
    ...(scriptHash === undefined ? [] : [`script-src ${scriptHash}`]),
    `style-src ${styles}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ]
  return {
    html: written.text,
    headers: {
      'content-security-policy': policy.join('; '),
      'x-frame-options': 'DENY',
      // With no-referrer, browsers would send `Origin: null` with the form.
      'referrer-policy': 'same-origin',
    },
  }
}

/** In a policy, `;` and `,` would end the source. */
function toSource(url: string): string {
  return new URL(url).href.replaceAll(';', '%3B').replaceAll(',', '%2C')
}

export function toServiceName({ config }: Services): string {
  return config.oauthServer.pageName || new URL(config.site.url).host
}

/** Why a form was not accepted. */
export function toAlert(message: string | undefined): Html | undefined {
  return message === undefined ? undefined : html`<p role="alert">${message}</p>`
}
