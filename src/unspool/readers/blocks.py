"""Content blocks as Anthropic's API has them, as text: many agents keep their messages in this form."""

from typing import Any

from unspool.sources.values import mapping, placeholder, string, text_of


def content_text(content: Any) -> str:
    """The text of a content that may be a string, a list of blocks, or anything."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join([block_text(block) for block in content])
    return block_text(content) if isinstance(content, dict) else text_of(content)


def block_text(block: Any) -> str:
    """One block as text: an image or a document by a placeholder, what we do not know as JSON."""
    if not isinstance(block, dict):
        return text_of(block)
    match block.get("type"):
        case "text" | "input_text" | "output_text" if isinstance(block.get("text"), str):
            return str(block["text"])
        case "image" | "document" | "audio" as medium:
            return _document_text(medium, block)
        case "tool_reference" if isinstance(block.get("tool_name"), str):
            return f"[tool: {block['tool_name']}]"
        case "resource":
            resource = mapping(block.get("resource"))
            return text_of(resource.get("text")) or placeholder("document", None, resource.get("blob"))
        case "resource_link":
            return f"[document: {text_of(block.get('uri'))}]"
    return text_of(block)


def image_text(address: str, medium: str = "image") -> str:
    """An image by its address, or another medium; by a placeholder if the address is the image itself:
    `data:image/png;base64,…`."""
    about, comma, data = address.partition(",")
    if not address.startswith("data:") or not comma:
        return f"[{medium}: {address}]"
    return placeholder(medium, about.removeprefix("data:").partition(";")[0] or None, data)


def _document_text(medium: str, block: dict[str, Any]) -> str:
    """Anthropic keeps the data in `source`, MCP beside the type."""
    source = mapping(block.get("source")) or block
    if isinstance(source.get("url"), str):
        return f"[{medium}: {source['url']}]"
    if source.get("type") == "text":
        return text_of(source.get("data"))
    media_type = source.get("media_type") or source.get("mimeType") or source.get("mediaType")
    return placeholder(medium, string(media_type), source.get("data") or source.get("base64"))
