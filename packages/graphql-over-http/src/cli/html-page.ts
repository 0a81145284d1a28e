import type { AuditRequest } from '../audits/audit-request.ts'
import { escapeHtml } from '../audits/html-report.ts'
import {
  type AuditCounts,
  type AuditFail,
  type AuditRequirement,
  type AuditResult,
  toAuditReport,
} from '../audits/index.ts'
import { summarizeResponse } from '../audits/response-summary.ts'
import type { ProfileName } from '../profiles.ts'
import { PAGE_STYLE } from './html-page-style.ts'

/** Options of {@link renderAuditPage}. */
export interface AuditPageOptions {
  /** The address that was audited. */
  readonly url: string
  /** The status profile of the audits. Default: `classic`. */
  readonly profile?: ProfileName | undefined
  /** When the audit was run. Default: now. */
  readonly date?: Date | undefined
}

interface Level {
  readonly level: AuditRequirement
  readonly title: string
  readonly intro: string
  readonly tone: 'error' | 'warn' | 'may'
}

const LEVELS: readonly Level[] = [
  {
    level: 'MUST',
    title: 'Required',
    intro: 'Clients rely on these: a server that fails one does not comply.',
    tone: 'error',
  },
  {
    level: 'SHOULD',
    title: 'Recommended',
    intro: 'A server may deviate from these only for a good reason.',
    tone: 'warn',
  },
  {
    level: 'MAY',
    title: 'Optional',
    intro: 'Conventions that make a server easier to work with.',
    tone: 'may',
  },
]

/**
 * Renders a self-contained HTML page with the results: no scripts, no external resources, light or
 * dark. Text that came from the audited server is escaped. The responses of failed results stay
 * readable.
 */
export async function renderAuditPage(
  results: readonly AuditResult[],
  { url, profile = 'classic', date = new Date() }: AuditPageOptions,
): Promise<string> {
  const report = toAuditReport(results)
  const levels = LEVELS.filter(({ level }) => report.levels[level].total > 0)
  const sections = await Promise.all(
    levels.map((level) =>
      renderSection(
        level,
        results.filter((result) => result.level === level.level),
      ),
    ),
  )
  const when = `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Audit of ${escapeHtml(url)}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<main>
<header>
<p class="kicker">GraphQL over HTTP audit report</p>
<h1>${escapeHtml(url)}</h1>
<p class="kicker">${report.total} audits, ${profile} status codes, ${when}</p>
</header>
${renderVerdict(report, report.levels.MUST)}
<nav class="levels">
${levels.map((level) => renderCard(level, report.levels[level.level])).join('\n')}
</nav>
${sections.join('\n')}
<footer>Made by @portcullis/graphql-over-http</footer>
</main>
</body>
</html>
`
}

function renderVerdict({ total, warn }: AuditCounts, must: AuditCounts): string {
  const [tone, title, text] =
    must.error > 0
      ? [
          'error',
          'Does not comply',
          `${must.error} of ${must.total} requirements ${must.error === 1 ? 'is' : 'are'} not met.`,
        ]
      : warn > 0
        ? [
            'warn',
            'Complies',
            `Every requirement is met; ${warn} ${warn === 1 ? 'suggestion is' : 'suggestions are'} left.`,
          ]
        : ['ok', 'Complies in full', `All ${total} audits pass.`]
  return `<p class="verdict ${tone}"><strong>${title}</strong> ${text}</p>`
}

function renderCard({ level, title, tone }: Level, { total, ok }: AuditCounts): string {
  const share = (ok / total) * 100
  return `<a class="level" href="#${level}">
<span class="kicker"><b>${level}</b> ${title}</span>
<b>${ok} <span>of ${total} pass</span></b>
<div class="bar ${ok === total ? 'ok' : tone}"><i style="width: ${share.toFixed(1)}%"></i></div>
</a>`
}

async function renderSection(
  { level, title, intro, tone }: Level,
  results: readonly AuditResult[],
): Promise<string> {
  const failed = results.filter((result) => result.status !== 'ok')
  const passed = results.filter((result) => result.status === 'ok')
  const items = await Promise.all(failed.map((result) => renderFail(result, tone)))
  return `<section id="${level}">
<h2>${title}</h2>
<p class="intro">${intro}</p>
${items.length > 0 ? `<ul>\n${items.join('\n')}\n</ul>` : ''}
${passed.length > 0 ? renderPassed(passed) : ''}
</section>`
}

async function renderFail(result: AuditFail, tone: string): Promise<string> {
  return `<li class="fail ${tone}">
<div class="title">${renderTitle(result)}</div>
<p class="reason">${escapeHtml(result.reason)}</p>
<details>
<summary>Request and response (${result.response.status})</summary>
<div class="exchange">
<div><h3>Sent</h3><pre>${escapeHtml(toRequestText(result.request))}</pre></div>
<div><h3>Received</h3><pre>${escapeHtml(await toResponseText(result.response))}</pre></div>
</div>
</details>
</li>`
}

function renderPassed(results: readonly AuditResult[]): string {
  const items = results.map(
    (result) => `<li class="title"><span class="tick">✓</span>${renderTitle(result)}</li>`,
  )
  return `<details class="passing" open>
<summary>${results.length} pass</summary>
<ul>
${items.join('\n')}
</ul>
</details>`
}

function renderTitle({ id, name }: AuditResult): string {
  return `<code class="id">${escapeHtml(id)}</code><span>${escapeHtml(name)}</span>`
}

function toRequestText({ method, search, accept, contentType, body }: AuditRequest): string {
  const head = [search ? `${method} ?${new URLSearchParams(search)}` : method]
  if (accept !== undefined) head.push(`accept: ${accept}`)
  if (contentType !== undefined) head.push(`content-type: ${contentType}`)
  return body === undefined ? head.join('\n') : `${head.join('\n')}\n\n${body}`
}

async function toResponseText(response: Response): Promise<string> {
  const { status, statusText, headers, body } = await summarizeResponse(response)
  const head = [`${status} ${statusText}`.trim()]
  for (const [name, value] of Object.entries(headers)) head.push(`${name}: ${value}`)
  if (body === null) return head.join('\n')
  const text = typeof body === 'string' ? body : JSON.stringify(body, null, 2)
  return `${head.join('\n')}\n\n${text}`
}
