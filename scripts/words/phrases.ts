/** A phrase that readers stumble over. */
export interface Phrase {
  /**
   * What to search for. A space also matches a line break with the start of the next comment line, so
   * that wrapped phrases are found.
   */
  readonly pattern: RegExp
  /** Why it is hard to read. */
  readonly reason: string
  /** What to write instead. */
  readonly instead: string
}

/** Comparatives and fixed expressions that may follow "is no". */
const afterIsNo =
  'longer|shorter|larger|smaller|bigger|higher|lower|greater|less|fewer|more|later|earlier|newer|older|' +
  'faster|slower|better|worse|different|such|way|need|reason|doubt|one|other|room|errors?|point'

/** A phrase belongs here if it has been misread, and if almost every use of it can be replaced. */
export const phrases: readonly Phrase[] = [
  {
    pattern:
      /\b(?:is|are|was|were|be|been) told\b|\btells? of\b|\btold of\b|\btold (?:by|apart)\b/gi,
    reason: 'programs do not tell',
    instead: 'is logged, reports, returns, gets; "told apart": distinguished',
  },
  {
    pattern: /\bunless told\b/gi,
    reason: 'obscures that this is a default',
    instead: 'Default: …',
  },
  { pattern: /\bto be had\b/gi, reason: 'archaic', instead: 'available' },
  {
    pattern: new RegExp(
      `(?<!\\b(?:there|where|here) )\\b(?:is|are|was|were) no (?!(?:${afterIsNo})\\b)[a-z]+`,
      'gi',
    ),
    reason: '"is no X" reads like "there is no X"',
    instead: 'is not a …',
  },
  {
    pattern:
      /(?<=^|[.:;] |\/\/ |\* )Who (?:has|is|makes|stops|leaves|wants|asks|comes|knows|signs|reaches|can|may)\b(?![^.\n]*\?)/gm,
    reason: 'reads like a question',
    instead: 'anyone who, a client that',
  },
  {
    pattern: /\b(?:[Ww]hoever|[Ww]homever|[Nn]obody|[Ss]omebody|[Ss]trangers?)\b/g,
    reason: 'hides which user, client or process is meant',
    instead: 'any client that, no user, another process, unauthenticated client',
  },
  {
    pattern:
      /(?<=\/\*\* |\/\/ )(?:Of (?:the|this|those|it|them|an?|one)|Those of|Not among them)\b/g,
    reason: 'a fragment without a subject',
    instead: 'a full sentence that names the subject',
  },
  {
    pattern:
      /\b(?:mend(?:s|ed|ing)?|dear|twins?|last words|polite|parcels?|talkative|hopeless)\b/gi,
    reason: 'a metaphor for something that has a name',
    instead: 'fix, expensive, variant, final output, connection transfer, verbose, permanent',
  },
  {
    pattern: /\bas (?:it|they) should\b|\bis wrong with\b|\bin vain\b/gi,
    reason: 'does not say what is expected',
    instead: 'the expected behaviour, or the error',
  },
  {
    pattern: /\b(?:goes|went) away\b|\b(?:hangs?|hung) up\b/gi,
    reason: 'not the term of art',
    instead: 'disconnects, closes the connection, is removed',
  },
  {
    pattern: /\bof (?:its|their|our) own\b(?! [a-z])/gi,
    reason: 'inverted order',
    instead: 'its own …, a separate …',
  },
  {
    pattern: /\banew\b|\bfor ever\b|\bunder way\b/gi,
    reason: 'archaic',
    instead: 'again, forever, in progress',
  },
  {
    pattern: /\breference \d+(?:\.\d+)+\b|\(R\d+\)/gi,
    reason: 'cites a document that is not in the repository',
    instead: 'the RFC, a page in docs/, or the reason itself',
  },
]
