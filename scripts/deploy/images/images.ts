/** An image that is built from this repository. */
export interface Image {
  readonly containerfile: string
  /** The package whose program it runs. */
  readonly package: string
}

export const images = {
  auth: { containerfile: 'deploy/images/auth.Containerfile', package: 'auth' },
  ratelimit: { containerfile: 'deploy/images/ratelimit.Containerfile', package: 'ratelimit' },
  console: { containerfile: 'deploy/images/console.Containerfile', package: 'portcullis' },
  /** The API of examples/compose. It is tested, but not released. */
  api: { containerfile: 'examples/compose/api.Containerfile', package: 'portcullis' },
} satisfies Record<string, Image>

export type ImageName = keyof typeof images
