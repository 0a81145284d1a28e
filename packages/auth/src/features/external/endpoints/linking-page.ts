import type { Answer } from '../../../http/call.ts'

export interface LinkingPage {
  readonly provider: string
  /** What the user goes by who gets the identity; undefined: they are anonymous. */
  readonly account: string | undefined
  /** The host of the site. */
  readonly site: string
  readonly state: string
}

const style = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{max-width:32rem;margin:10vh auto;padding:0 1rem}
strong{overflow-wrap:anywhere}
button{font:inherit;padding:.5rem 1rem;margin:0 .5rem .5rem 0}`

/** Nothing but this text: no scripts, no frames around it, nothing loaded. */
const policy = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * Asks whether the user of this browser has started to link an identity. It says whose account that is:
 * somebody else may have sent them the URL, to get at what they do with that identity later.
 */
export function createLinkingPage(page: LinkingPage): Answer {
  const provider = escapeHtml(page.provider.charAt(0).toUpperCase() + page.provider.slice(1))
  const site = escapeHtml(page.site)
  const account =
    page.account === undefined
      ? 'a guest account'
      : `the account <strong>${escapeHtml(page.account)}</strong>`
  return {
    status: 200,
    html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Link ${provider} · ${site}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>Link ${provider}?</h1>
<p>Your ${provider} account will be linked to ${account} at <strong>${site}</strong>. From then on,
signing in with ${provider} opens that account.</p>
<p>Continue only if this is your account and you have just asked for this yourself. If somebody sent you
here, cancel.</p>
<form method="post">
<input type="hidden" name="state" value="${escapeHtml(page.state)}">
<button name="choice" value="link">Continue to ${provider}</button>
<button name="choice" value="cancel">Cancel</button>
</form>
</main>
</body>
</html>
`,
    headers: {
      'content-security-policy': policy,
      'x-frame-options': 'DENY',
      // With no-referrer, the form would not say where it comes from.
      'referrer-policy': 'same-origin',
    },
  }
}

function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character)
}
