// The types of mediabunny 1.61.0 that our modules use.

export type VideoCodec = "vp9" | "vp8";
export interface VideoEncodingConfig {
  codec: VideoCodec;
  bitrate: number;
  bitrateMode?: "constant" | "variable";
  latencyMode?: "quality" | "realtime";
  /** Seconds from one key frame to the next, at most. */
  keyFrameInterval?: number;
}
export function getFirstEncodableVideoCodec(
  codecs: VideoCodec[],
  options: { width: number; height: number; bitrate: number },
): Promise<VideoCodec | null>;
export class CanvasSource {
  constructor(canvas: HTMLCanvasElement, config: VideoEncodingConfig);
  /** Encodes the canvas as it is, shown from `timestamp` for `duration`, both in seconds; resolves when there is room for more. */
  add(timestamp: number, duration: number): Promise<void>;
}
export class BufferTarget {
  buffer: ArrayBuffer | null;
}
export class WebMOutputFormat {}
export class Output<T> {
  constructor(options: { format: WebMOutputFormat; target: T });
  target: T;
  addVideoTrack(source: CanvasSource): void;
  start(): Promise<void>;
  finalize(): Promise<void>;
}
