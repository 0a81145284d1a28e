import type { Log } from '@portcullis/service-kit/log/log'
import { toReason } from '@portcullis/service-kit/text/reason'
import { type FetchSettings, fetchGuarded } from '../../outgoing/guarded-fetch.ts'
import { parseHtmlTemplate, type Template } from '../../template/index.ts'

export interface TemplateSource {
  /** Undefined if the template has never been available. Never rejects. */
  find(): Promise<Template | undefined>
  /** Logs that the template could not be rendered for one message; others may succeed. */
  reportRenderFailure(reason: string): void
  /** Why the last attempt to fetch the template failed; undefined if it succeeded. */
  readonly problem: string | undefined
}

export interface TemplateSourceSettings {
  readonly url: URL
  /** The kind of message, for the log. */
  readonly name: string
  /** How long a copy is cached. */
  readonly maxAgeMs: number
  /** How long to wait after a failure before fetching again. */
  readonly retryMs: number
  readonly fetching: FetchSettings
  readonly log: Pick<Log, 'warning' | 'info'>
  readonly now?: () => number
}

/** A template on a web server. The last valid copy is used while a newer one is unavailable. */
export function createTemplateSource(settings: TemplateSourceSettings): TemplateSource {
  const { url, name, maxAgeMs, retryMs, fetching, log, now = Date.now } = settings
  let copy: Template | undefined
  let nextFetchAt = Number.NEGATIVE_INFINITY
  let fetched: Promise<void> | undefined
  let problem: string | undefined
  let renderFailure: string | undefined

  const fail = (reason: string): void => {
    nextFetchAt = now() + retryMs
    // A problem is logged once, not for every message.
    if (problem === reason) return
    problem = reason
    const instead = copy === undefined ? 'the built-in template' : 'the last valid copy'
    log.warning(
      `The template of the ${name} message is not available, ${instead} is used: ${reason}`,
    )
  }
  const fetchCopy = async (): Promise<void> => {
    try {
      copy = parseHtmlTemplate(await fetchGuarded(url, fetching))
      nextFetchAt = now() + maxAgeMs
      if (problem !== undefined) log.info(`The template of the ${name} message is available again`)
      problem = undefined
    } catch (error) {
      fail(toReason(error))
    }
  }
  return {
    async find() {
      if (now() >= nextFetchAt) {
        // Concurrent callers share one request.
        fetched ??= fetchCopy().finally(() => {
          fetched = undefined
        })
        await fetched
      }
      return copy
    },
    get problem() {
      return problem
    },
    reportRenderFailure(reason) {
      if (renderFailure === reason) return
      renderFailure = reason
      log.warning(
        `The template of the ${name} message failed, the built-in template is used: ${reason}`,
      )
    },
  }
}

/** A value without a scheme is a path of the site. */
export function toTemplateUrl(value: string, siteUrl: string): URL | undefined {
  const isWhole = /^[a-z][a-z0-9+.-]*:\/\//i.test(value)
  const text = isWhole
    ? value
    : `${siteUrl.replace(/[?#].*$/, '').replace(/\/+$/, '')}/${value.replace(/^\/+/, '')}`
  return URL.parse(text) ?? undefined
}
