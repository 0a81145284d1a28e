import type { MarkdownRenderer } from 'vitepress'

/**
 * Makes Markdown look as on GitHub. VitePress compiles pages as templates of Vue, so everything that
 * Vue would interpret is escaped; of HTML, only line breaks remain.
 */
export function setUpMarkdown(md: MarkdownRenderer): void {
  const escape = (text: string) => md.utils.escapeHtml(text).replaceAll('{{', '&#123;&#123;')
  const { rules } = md.renderer
  md.disable('emoji', true)
  // Only complete URLs become links, not names of files such as auth.md.
  md.linkify.set({ fuzzyLink: false, fuzzyEmail: false })

  rules.text = (tokens, index) => escape(tokens[index]?.content ?? '')
  rules.code_inline = (tokens, index) => `<code>${escape(tokens[index]?.content ?? '')}</code>`
  rules.html_inline = (tokens, index) => {
    const { content: text = '', meta } = tokens[index] ?? {}
    // The link beside a heading, which VitePress adds.
    if (meta?.isPermalinkSymbol) return text
    if (text.startsWith('<!--')) return ''
    return /^<br ?\/?>$/.test(text) ? '<br>' : escape(text)
  }
  rules.html_block = (tokens, index) => {
    const text = tokens[index]?.content ?? ''
    return text.startsWith('<!--') ? '' : escape(text)
  }

  const { fence } = rules
  rules.fence = (tokens, index, options, env, self) => {
    const token = tokens[index]
    // The highlighter does not know PromQL.
    if (token?.info === 'promql') token.info = 'txt'
    if (token?.info !== 'diagram') return fence?.(tokens, index, options, env, self) ?? ''
    const { url, width, description } = JSON.parse(token.content)
    // A diagram is made smaller to fit the page, but only as far as its text remains legible.
    const style = `max-width: max(100%, ${Math.round(0.75 * width)}px)`
    const alt = md.utils.escapeHtml(description)
    const toImage = (theme: string) =>
      `<img class="${theme}-only" src="${url}-${theme}.svg" style="${style}" alt="${alt}" loading="lazy">`
    // It can be focused, so that wide diagrams can be scrolled with the keyboard.
    return `<div class="diagram" tabindex="0">${toImage('light')}${toImage('dark')}</div>`
  }
}
