import type { CaughtMessage } from './mailbox.ts'

/** The frame that shows a mail may use any styles, but may not run scripts or load anything. */
const framePolicy = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
  'sandbox',
].join('; ')

/** A content security policy does not cover DNS prefetching of links. */
export const frameHeaders = {
  'content-security-policy': framePolicy,
  'x-dns-prefetch-control': 'off',
} as const

/** The sandbox forbids new windows, so that a click on a link has no effect. */
const additions = '<base target="_blank"><meta name="viewport" content="width=device-width">'

/** Builds the document of a mail's HTML, with its embedded images. */
export function toFrameDocument({
  html = '',
  attachments,
}: Pick<CaughtMessage, 'html' | 'attachments'>): string {
  const pictures = new Map(
    attachments.flatMap(({ contentId, type, content }) =>
      contentId !== undefined && /^image\/[\w.+-]+$/.test(type)
        ? [[contentId, `data:${type};base64,${Buffer.from(content).toString('base64')}`] as const]
        : [],
    ),
  )
  const shown =
    pictures.size === 0
      ? html
      : html.replace(/\bcid:([^\s"'()<>]{1,250})/gi, (all, id: string) => pictures.get(id) ?? all)
  // The policy blocks loading, but `<link rel=preconnect>` would still connect to the sender's server and reveal
  // that the mail is being read. A frame could contain such links too.
  const quiet = shown.replace(/<(link|iframe)(?=[\s/>])/gi, '<x-$1')
  // Text before the doctype would switch the document to quirks mode.
  const [kind = ''] = /^\s*<!doctype[^>]{0,300}>/i.exec(quiet) ?? []
  return `${kind}${additions}${quiet.slice(kind.length)}`
}
