import type { CaughtMessage } from './mailbox.ts'

/** For the frame that shows a mail: it may look as it likes, and do nothing at all. */
const framePolicy = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
  'sandbox',
].join('; ')

/** The policy has no word about looking up the names that links lead to. */
export const frameHeaders = {
  'content-security-policy': framePolicy,
  'x-dns-prefetch-control': 'off',
} as const

/** Windows are what the sandbox does not give: a click on a link leaves the mail where it is. */
const additions = '<base target="_blank"><meta name="viewport" content="width=device-width">'

/** A mail's HTML as a document, with the pictures that it brought along. */
export function toFrameDocument({ html = '', attachments }: CaughtMessage): string {
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
  // All that a link could load is refused, but not that it connects to where that would be, and whoever wrote
  // the mail would know that it is read. A frame can have a document of its own with such links.
  const quiet = shown.replace(/<(link|iframe)(?=[\s/>])/gi, '<x-$1')
  // Before the kind of the document it would change how the document is laid out.
  const [kind = ''] = /^\s*<!doctype[^>]{0,300}>/i.exec(quiet) ?? []
  return `${kind}${additions}${quiet.slice(kind.length)}`
}
