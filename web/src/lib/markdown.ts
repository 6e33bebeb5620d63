// Markdown → HTML that cannot do anything. Raw HTML stays text, links are told apart, pictures are not fetched; and what
// comes out is cleaned once more.
import DOMPurify from "dompurify";
import MarkdownIt from "markdown-it";
import { highlighted } from "./highlight";
import { plain } from "./ansi";

const md = new MarkdownIt({
  html: false,
  linkify: true,
  breaks: false,
  highlight: (code, language) => highlighted(code, language),
});
md.validateLink = (url) => /^(https?:|mailto:|#)/i.test(url.trim());
md.renderer.rules["link_open"] = (tokens, at, options, _env, self) => {
  const token = tokens[at]!;
  token.attrSet("target", "_blank");
  token.attrSet("rel", "noopener noreferrer nofollow");
  token.attrSet("title", token.attrGet("href") ?? "");
  return self.renderToken(tokens, at, options);
};
/** The policy allows no style in the page, so a column's side is told in the old way. */
const cell: NonNullable<(typeof md.renderer.rules)[string]> = (tokens, at, options, _env, self) => {
  const token = tokens[at]!;
  const side = /text-align:\s*(left|center|right)/.exec(String(token.attrGet("style") ?? ""))?.[1];
  token.attrs = side ? [["align", side]] : null;
  return self.renderToken(tokens, at, options);
};
/** From right to left where it begins so, with the marks of a list on that side. */
const directed: typeof cell = (tokens, at, options, _env, self) => {
  tokens[at]!.attrSet("dir", "auto");
  return self.renderToken(tokens, at, options);
};
for (const name of ["th_open", "td_open"]) md.renderer.rules[name] = cell;
for (const name of ["bullet_list_open", "ordered_list_open", "blockquote_open", "table_open"]) md.renderer.rules[name] = directed;
md.renderer.rules["image"] = (tokens, at) => {
  const token = tokens[at]!;
  const text = md.utils.escapeHtml(token.content || "image");
  return `<span class="not-loaded" title="${md.utils.escapeHtml(String(token.attrGet("src") ?? ""))}">[image: ${text}]</span>`;
};
md.renderer.rules["fence"] = (tokens, at) => {
  const token = tokens[at]!;
  const language = token.info.trim().split(/\s+/)[0] ?? "";
  return `<pre class="code" data-language="${md.utils.escapeHtml(language)}"><code>${highlighted(token.content, language)}</code></pre>`;
};

const ALLOWED = {
  ALLOWED_TAGS:
    "a p br hr h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong s del table thead tbody tr th td span sub sup".split(
      " ",
    ),
  ALLOWED_ATTR: ["href", "title", "class", "target", "rel", "start", "align", "dir", "data-language"],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|#)/i,
  ADD_URI_SAFE_ATTR: ["target", "rel", "start", "align", "dir"], // no addresses: else they would have to look like one
};

const kept = new Map<string, string>();

export function markdown(text: string): string {
  const known = kept.get(text);
  if (known !== undefined) return known;
  const html = DOMPurify.sanitize(md.render(plain(text)), ALLOWED);
  if (kept.size > 300) kept.clear();
  kept.set(text, html);
  return html;
}
