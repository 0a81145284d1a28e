/** Draws a Mermaid diagram as SVG, in the colours of a theme. */
export type DrawDiagram = (source: string, theme: Theme) => string

const themes = {
  light: { bg: '#ffffff', fg: '#3c3c43', accent: '#b4532a', line: '#8e8e93', surface: '#f6f6f7' },
  dark: { bg: '#1b1b1f', fg: '#dfdfd6', accent: '#e58a5c', line: '#7c7c85', surface: '#202127' },
} as const

export type Theme = keyof typeof themes
export const themeNames = Object.keys(themes) as readonly Theme[]

/** Loads the renderer from the dependencies of the site, which need not be installed otherwise. */
export async function loadDrawDiagram(): Promise<DrawDiagram> {
  // TypeScript must not resolve the package, because it is not installed for `npm run check`.
  const name: string = 'beautiful-mermaid'
  const { renderMermaidSVG } = (await import(name)) as {
    renderMermaidSVG(source: string, options: object): string
  }
  return (source, theme) => {
    const svg = renderMermaidSVG(source, {
      ...themes[theme],
      transparent: true,
      font: 'system-ui',
      padding: 8,
    })
    // The renderer refers to a font on another server.
    return svg.replaceAll(/@import url\([^)]*\);?/g, '')
  }
}

export interface DrawnDiagram {
  /** The address of the images, without `-light.svg` or `-dark.svg`. */
  readonly url: string
  readonly width: number
}

/** Replaces each Mermaid block by a block that `.vitepress/markdown.ts` shows as an image. */
export function replaceDiagrams(text: string, draw: (source: string) => DrawnDiagram): string {
  return text.replaceAll(/^```mermaid\n(.*?)^```$/gms, (_, source: string) => {
    const diagram = { ...draw(source), description: describe(source) }
    return `\`\`\`diagram\n${JSON.stringify(diagram)}\n\`\`\``
  })
}

/** The text for readers who do not see the image: the nodes of a flowchart, by label or by name. */
function describe(source: string): string {
  const nodes = source.matchAll(/^\s+([\w-]+)$|[[(]+"?([^\])"|]+)"?[\])]+/gm)
  const names = Array.from(nodes, ([, name, label]) =>
    (label ?? name ?? '').replaceAll('<br>', ' '),
  )
  return `Diagram: ${[...new Set(names)].join(', ')}`
}
