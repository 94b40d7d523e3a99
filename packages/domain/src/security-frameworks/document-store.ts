/** An evidence document: everything but its bytes. */
export type Document = {
  organization: number
  framework: number
  control: string
  /** Last part of its path: opaque, with an extension. */
  name: string
  /** The name it was sent with, made safe. */
  file_name: string
  content_type: string
  size: number
  sha256: string
  /** Number of the file that holds its bytes. */
  file: number
}

/** Documents of active frameworks of active organizations. */
export type DocumentStore = {
  insert(document: Document): Promise<void>
  /** Bytes of all documents of the organization, those of removed frameworks included. */
  sizeOf(organization: number): Promise<number>
  findActive(place: Pick<Document, 'organization' | 'framework' | 'control' | 'name'>): Promise<Document | undefined>
}
