export interface Bar {
  readonly label: string
  readonly value: number
  readonly kind: 'ours' | 'peer' | 'yardstick'
}

export interface Panel {
  readonly title: string
  readonly bars: readonly Bar[]
}

// Medium tones without a background are readable on light and dark pages.
const colors = { ours: '#3b82f6', peer: '#8b98a9', yardstick: '#c58f2c', text: '#7a8594' }
const width = 840
const labelWidth = 330
const valueWidth = 80
const rowHeight = 24
const barHeight = 15
const headHeight = 38

/** Draws one group of horizontal bars per panel, longest first, as an SVG document. */
export function drawBarChart(title: string, note: string, panels: readonly Panel[]): string {
  const parts: string[] = []
  let y = 56
  for (const panel of panels) {
    parts.push(drawPanel(panel, y))
    y += headHeight + panel.bars.length * rowHeight + 14
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${y}" ` +
      `viewBox="0 0 ${width} ${y}" role="img" aria-label="${escapeXml(title)}" ` +
      `font-family="system-ui, sans-serif" font-size="13" fill="${colors.text}">`,
    `<text x="0" y="18" font-size="17" font-weight="600">${escapeXml(title)}</text>`,
    `<text x="0" y="38" font-size="12">${escapeXml(note)}</text>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

function drawPanel({ title, bars }: Panel, top: number): string {
  const sorted = bars.toSorted((a, b) => b.value - a.value)
  const longest = sorted[0]?.value ?? 1
  const scale = (width - labelWidth - valueWidth) / longest
  const rows = sorted.map(({ label, value, kind }, index) => {
    const y = top + headHeight + index * rowHeight
    const baseline = y + 12
    const length = Math.max(1, Math.round(value * scale))
    const weight = kind === 'ours' ? ' font-weight="600"' : ''
    return [
      `<text x="${labelWidth - 8}" y="${baseline}" text-anchor="end"${weight}>` +
        `${escapeXml(label)}</text>`,
      `<rect x="${labelWidth}" y="${y}" width="${length}" height="${barHeight}" rx="2" ` +
        `fill="${colors[kind]}"/>`,
      `<text x="${labelWidth + length + 6}" y="${baseline}"${weight}>` +
        `${Math.round(value).toLocaleString('en-US')}</text>`,
    ].join('\n')
  })
  const heading = `<text x="0" y="${top + 20}" font-size="14" font-weight="600">${escapeXml(title)}</text>`
  return [heading, ...rows].join('\n')
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.codePointAt(0)};`)
}
